package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// One function makes the command that continues a run, with its folder, its ID and quotes.
func TestOneFunctionSpellsResume(t *testing.T) {
	literal := regexp.MustCompile("\"[^\"]*[^/]ralph resume|`ralph resume|\"ralph resume")
	for _, root := range []string{".", "../cmd"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil && literal.Match(text) && filepath.Base(path) != "resume.go" {
				t.Errorf("%s spells the command itself: use journal.Resume", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
