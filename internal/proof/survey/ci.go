package survey

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/yamlfile"
)

var onPush = pattern.Of(`\b(?:push|pull_request)\b`)

// CI returns the names, or paths, of the project's workflows that GitHub starts for pushes or pull requests.
func CI(s Source) []string {
	const folder = ".github/workflows"
	var names []string
	for _, base := range slices.Sorted(slices.Values(s.List(folder))) {
		ext := path.Ext(base)
		if (ext != ".yml" && ext != ".yaml") || strings.HasPrefix(base, "ralph") {
			continue
		}
		var file struct {
			Name string
			On   any
		}
		from := path.Join(folder, base)
		if yamlfile.Decode(s.Read(from), &file) != nil || !onPush.MatchString(fmt.Sprint(file.On)) {
			continue
		}
		name := cmp.Or(file.Name, from)
		if printable(name) && !strings.Contains(name, "${{") {
			names = append(names, name)
		}
	}
	return names
}

func printable(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
