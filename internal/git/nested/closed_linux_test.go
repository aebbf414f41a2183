package nested_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/rights"
)

// A command can close the folder of the project to its owner, or one above it, which also holds the home of ralph's git
// here. Repositories in it become ineffective all the same.
func TestClosedProject(t *testing.T) {
	for _, folder := range []string{".", ".."} {
		for _, closed := range []os.FileMode{0, 0o111, 0o444, 0o555} {
			t.Run(folder+" "+closed.String(), func(t *testing.T) {
				w := watch(t, nil)
				w.fill(map[string]string{".hg/hgrc": "x"})
				rights.Drop(w.T, filepath.Dir(w.top), w.top)
				mode(folder, closed)(w)
				w.want(".hg")
			})
		}
	}
}
