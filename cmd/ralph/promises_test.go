package main_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	codeWord = regexp.MustCompile("`([^` ]+)`")
	written  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// Each promise has tests that exist: every test and script in the last column of the page.
func TestPromisesHaveTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/dev/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, promises := testsOf(t, "../.."), map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for number := range strings.FieldsSeq(cells[2]) {
			promises[number] = true
		}
		for _, word := range codeWord.FindAllStringSubmatch(cells[3], -1) {
			if !tests[word[1]] {
				t.Errorf("there is no %s, which shows: %s", word[1], cells[1])
			}
		}
	}
	for number := 1; number <= 12; number++ {
		if !promises[strconv.Itoa(number)] {
			t.Errorf("no test shows promise %d", number)
		}
	}
}

// testsOf returns the names of all tests and scripts below a folder.
func testsOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, part := range []string{"cmd", "internal", "tools/image", "tools/release"} {
		tree := os.DirFS(dir)
		err := fs.WalkDir(tree, part, func(name string, _ fs.DirEntry, err error) error {
			if strings.HasPrefix(name, "cmd/ralph/testdata/script/") {
				all[path.Base(name)] = true
			}
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
