package view

import (
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// templateFolders are where GitHub looks for a template of pull requests, in
// the order in which they count.
var templateFolders = []string{".github", "docs", "."}

var hiddenText = pattern.Of(`(?s)<!--.*?(?:-->|$)`)

// Template is the repository's own template for pull requests among its files;
// of a folder of them the first. Empty: there is none.
func Template(files []string) string {
	for _, folder := range templateFolders {
		several := ""
		for _, file := range files {
			switch {
			case standsAs(file, folder, "pull_request_template"):
				return file
			case several == "" && strings.EqualFold(path.Dir(file), path.Join(folder, "pull_request_template")) && written(file):
				several = file
			}
		}
		if several != "" {
			return several
		}
	}
	return ""
}

// standsAs tells of a text of that name in a folder, in any case of letters.
func standsAs(file, folder, name string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.EqualFold(path.Dir(file), folder) && strings.TrimSuffix(base, path.Ext(base)) == name && written(file)
}

func written(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case "", ".md", ".txt":
		return true
	}
	return false
}

// form is a template as a pull request begins with it: without the hidden words
// for those who fill it in, among which ours could be looked for.
func form(template string) string {
	return strings.TrimSpace(hiddenText.ReplaceAllString(template, ""))
}
