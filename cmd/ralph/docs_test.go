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

// docs/files.md names paths that the program's own code names.
func TestFilesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	code := sources(t, "../../internal", ".go") + sources(t, ".", ".go")
	paths := pathInList.FindAllStringSubmatch(readFile(t, "../../docs/files.md"), -1)
	if len(paths) < 15 {
		t.Fatalf("docs/files.md has only the paths %v", paths)
	}
	for _, found := range paths {
		literal := strings.TrimSuffix(found[1], "/")
		if !strings.Contains(code, literal) && !strings.Contains(code, `"`+path.Base(literal)+`"`) {
			t.Errorf("no code names %s of docs/files.md", found[1])
		}
	}
}
