package main_test

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var pathInList = regexp.MustCompile("(?m)^- `([^`]+)`")

// sources returns all files below a folder that end so, without Go's tests.
func sources(t *testing.T, root, end string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, end) && !strings.HasSuffix(name, "_test.go") {
			all.WriteString(readFile(t, name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

var quoted = regexp.MustCompile("`([^`]+)`")

// docs/troubleshooting.md quotes what the program, or an agent in a recorded run, says.
func TestSymptomsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	said := sources(t, "../../internal", ".go") + sources(t, ".", ".go") + sources(t, scripts, ".txtar") + sources(t, "../../templates", ".md")
	quotes := 0
	for line := range strings.Lines(readFile(t, "../../docs/troubleshooting.md")) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			continue
		}
		for _, found := range quoted.FindAllStringSubmatch(cells[0], -1) {
			quotes++
			for part := range strings.SplitSeq(found[1], " NAME ") {
				if !strings.Contains(said, strings.TrimSpace(part)) {
					t.Errorf("nothing says %q", found[1])
				}
			}
		}
	}
	if quotes < 30 {
		t.Errorf("found %d quotes only", quotes)
	}
}

// docs/results.md names paths that the program's own code names.
func TestFilesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	code := sources(t, "../../internal", ".go") + sources(t, ".", ".go")
	paths := pathInList.FindAllStringSubmatch(readFile(t, "../../docs/results.md"), -1)
	if len(paths) < 15 {
		t.Fatalf("docs/results.md has only the paths %v", paths)
	}
	for _, found := range paths {
		literal := strings.TrimSuffix(found[1], "/")
		if !strings.Contains(code, literal) && !strings.Contains(code, `"`+path.Base(literal)+`"`) {
			t.Errorf("no code names %s of docs/results.md", found[1])
		}
	}
}

var (
	commandInText = regexp.MustCompile("`ralph ([a-z][^`]*)`")
	commandInCode = regexp.MustCompile(`(?:^|\s)ralph ([a-z]+(?: .*)?)$`)
	listedCommand = regexp.MustCompile(`(?m)^  ([a-z]+)(?:  |$)`)
	longFlag      = regexp.MustCompile(`(?:^|\s)--(?:no-)?([a-z][a-z-]*)`)
)

// Each command and flag of ralph that a page names is one of the program.
func TestCommandsOfPagesExist(t *testing.T) {
	t.Parallel()
	helps := map[string]string{"help": help(t)}
	for _, found := range listedCommand.FindAllStringSubmatch(helps["help"], -1) {
		helps[found[1]] = help(t, found[1])
	}
	named := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/dev/*.md", "action.yml", "host/action.yml"} {
		pages, err := filepath.Glob("../../" + pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, page := range pages {
			for _, command := range ralphCommands(readFile(t, page)) {
				named++
				name, rest, _ := strings.Cut(command, " ")
				text, known := helps[name]
				if !known {
					t.Errorf("%s: there is no command of ralph: %s", page, command)
				}
				for _, flag := range longFlag.FindAllStringSubmatch(rest, -1) {
					if known && !regexp.MustCompile(`--(?:\[no-\]|no-)?`+flag[1]+`\b`).MatchString(text) {
						t.Errorf("%s: %s has no flag --%s: %s", page, name, flag[1], command)
					}
				}
			}
		}
	}
	if named < 100 {
		t.Errorf("pages name %d commands only", named)
	}
}

// ralphCommands returns ralph's commands in code spans and blocks of code, without the commands that they start.
func ralphCommands(page string) []string {
	var all []string
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		pattern := commandInText
		if fenced {
			pattern = commandInCode
			line, _, _ = strings.Cut(line, "#")
			line = strings.TrimSpace(line)
		}
		for _, found := range pattern.FindAllStringSubmatch(line, -1) {
			command, _, _ := strings.Cut(found[1], " -- ")
			all = append(all, command)
		}
	}
	return all
}
