package nested_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A command can close the folder of the project to its owner, who makes repositories in it ineffective all the same.
func TestClosedProject(t *testing.T) {
	for _, closed := range []os.FileMode{0, 0o111, 0o444, 0o555} {
		t.Run(closed.String(), func(t *testing.T) {
			w := watch(t, nil)
			w.fill(map[string]string{".hg/hgrc": "x"})
			if os.Geteuid() == 0 { // without its rights on files
				const other = 65534
				err := errors.Join(os.Chmod(filepath.Dir(w.top), 0o755), os.Chown(w.top, other, other))
				runtime.LockOSThread()
				t.Cleanup(runtime.UnlockOSThread)
				_, failed := unix.SetfsuidRetUid(other)
				t.Cleanup(func() { _, _ = unix.SetfsuidRetUid(0) })
				if err = errors.Join(err, failed); err != nil {
					t.Fatal(err)
				}
			}
			mode(".", closed)(w)
			w.want(".hg")
		})
	}
}
