package main_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	spoken  = regexp.MustCompile("`([^` ]+)`")
	excused = regexp.MustCompile(`^(differs: .|missing: .|shown by$|-+$)`)
	written = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// Each promise and each attack names its tests: every test, script and story in
// the right-hand column exists, and a row without one says why.
func TestPromisesNameWhatIsThere(t *testing.T) {
	var pages []byte
	for _, name := range []string{"promises.md", "promises-program.md", "security-tests.md"} {
		page, err := os.ReadFile("../../docs/dev/" + name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page...)
	}
	tests, all := testsOf(t, "../.."), 0
	for line := range strings.Lines(string(pages)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| **") {
				t.Errorf("a row has one cell: %s", line)
			}
			continue
		}
		named, held := 0, strings.TrimSpace(cells[len(cells)-2])
		for _, word := range spoken.FindAllStringSubmatch(held, -1) {
			holder := word[1]
			switch {
			case strings.HasPrefix(holder, "Test"), strings.HasPrefix(holder, "Fuzz"):
				if !tests[holder] {
					t.Errorf("there is no %s, which holds: %s", holder, cells[1])
				}
			case strings.HasSuffix(holder, ".txtar"), strings.HasPrefix(holder, "verdict/"):
				for _, name := range spread(holder) {
					if !there(t, name) {
						t.Errorf("there is no %s, which holds: %s", name, cells[1])
					}
				}
			default:
				continue
			}
			named++
		}
		if named == 0 && !excused.MatchString(held) {
			t.Errorf("nothing is named that holds: %s", cells[1])
		}
		all += named
	}
	if all < 100 {
		t.Errorf("%d tests are named: the page is not read as it is written", all)
	}
}

// spread is a{b,c}d as abd and acd.
func spread(name string) []string {
	head, rest, open := strings.Cut(name, "{")
	middle, tail, closed := strings.Cut(rest, "}")
	if !open || !closed {
		return []string{name}
	}
	var all []string
	for part := range strings.SplitSeq(middle, ",") {
		all = append(all, head+part+tail)
	}
	return all
}

// there reports whether a script stands where the page says that they lie.
func there(t *testing.T, name string) bool {
	t.Helper()
	at := filepath.Join("testdata/script", name)
	if room, story, is := strings.Cut(name, "/"); is && room == "verdict" {
		at = filepath.Join("../../internal/core/verdict/testdata", strings.TrimSuffix(story, ".txtar")+".txtar")
	} else if is {
		at = filepath.Join("../../internal/*", name)
	}
	found, err := filepath.Glob(at)
	return err == nil && len(found) > 0
}

// testsOf returns the names of all tests below a folder.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, part := range []string{"cmd", "internal", "tools/image", "tools/release"} {
		tree := os.DirFS(dir)
		err := fs.WalkDir(tree, part, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path.Base(name), "_test.go") {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			for _, test := range written.FindAllStringSubmatch(string(text), -1) {
				all[test[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
