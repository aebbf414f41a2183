package rights

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Mounts returns a function that mounts for one test, where that can be done; without a kind, what lies at source.
func Mounts(t *testing.T) (mount func(kind, source, folder, options string) (mounted bool)) {
	t.Helper()
	runtime.LockOSThread() // for good: the thread and its mounts end with the test
	err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	return func(kind, source, folder, options string) bool {
		t.Helper()
		var flags uintptr
		if kind == "" {
			flags = unix.MS_BIND
		}
		if err == nil { // else it would be mounted for all
			err = unix.Mount(source, folder, kind, flags, options)
		}
		if err != nil {
			t.Log("without a mount:", err)
			return false
		}
		t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
		return true
	}
}
