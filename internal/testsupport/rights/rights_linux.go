// Package rights has a test run as an ordinary user, whom closed folders keep out, also if root runs it.
package rights

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Drop takes root's rights on files from a test until it ends, and gives it these files below its temporary folder.
func Drop(t *testing.T, owned ...string) {
	t.Helper()
	const other = 65534
	if os.Geteuid() != 0 {
		return
	}
	err := os.Chmod(filepath.Dir(t.TempDir()), 0o755) //nolint:gosec // another user goes through it
	for _, name := range owned {
		err = errors.Join(err, os.Chown(name, other, other))
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	_, failed := unix.SetfsuidRetUid(other)
	t.Cleanup(func() { _, _ = unix.SetfsuidRetUid(0) })
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
}
