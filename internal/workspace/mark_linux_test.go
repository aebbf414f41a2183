package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testsupport/rights"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// closable is a folder with a mark, of an ordinary user whom closed folders keep out.
func closable(t *testing.T) (dir, mark string) {
	t.Helper()
	above := filepath.Join(t.TempDir(), "ralph")
	dir = filepath.Join(above, "guards")
	mark = filepath.Join(dir, "mark")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(mark, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	rights.Drop(t, above, dir, mark)
	t.Cleanup(func() { _ = errors.Join(os.Chmod(above, 0o700), os.Chmod(dir, 0o700)) })
	return dir, mark
}

// A folder that is closed all the time, or one above, is open at last, or an error: what was recorded there never counts
// as missing, and no call waits for it.
func TestMarksInAFolderThatIsClosedAgainAndAgain(t *testing.T) {
	dir, mark := closable(t)
	for _, closed := range []string{dir, filepath.Dir(dir)} {
		ended, others := make(chan struct{}), sync.WaitGroup{}
		for range 2 {
			others.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
						_ = os.Chmod(closed, 0)
					}
				}
			})
		}
		for range 100 {
			if list, err := workspace.Marks(dir); err == nil && !cmp.Equal(list, []string{mark}) {
				t.Errorf("Marks = %q without an error", list)
			}
			if text, err := workspace.ReadMark(mark); err == nil && string(text) != "x" {
				t.Errorf("ReadMark = %q without an error", text)
			}
			open, text, _, err := workspace.OpenMark(mark)
			if err == nil && string(text) != "x" {
				t.Errorf("OpenMark = %q without an error", text)
			}
			_ = open.Close(false) // nil after an error
		}
		close(ended)
		others.Wait()
	}
}

// Marks opens what a command closed. What others own stays closed, and is an error.
func TestClosedMarks(t *testing.T) {
	others := t.TempDir()
	_ = errors.Join(os.Chmod(others, 0o700), os.Chown(others, 4242, 4242)) // only root can
	dir, mark := closable(t)
	if err := errors.Join(os.Chmod(mark, 0), os.Chmod(dir, 0)); err != nil {
		t.Fatal(err)
	}
	if text, err := workspace.ReadMark(mark); string(text) != "x" || err != nil {
		t.Errorf("ReadMark = %q, %v", text, err)
	}
	if list, err := workspace.Marks(filepath.Join(dir, "none")); len(list) > 0 || err != nil {
		t.Errorf("Marks of no folder = %q, %v", list, err)
	}
	if os.Geteuid() != 0 {
		t.Log("only root can make a folder that another user owns")
		return
	}
	if list, err := workspace.Marks(others); len(list) > 0 || !errors.Is(err, os.ErrPermission) {
		t.Errorf("Marks of another user's folder = %q, %v", list, err)
	}
}
