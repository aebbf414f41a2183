package putback_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
)

// A folder or file that is a mount point, as in a development container, cannot be replaced: what is in it is put back.
// Where nothing can be mounted, both are ordinary ones.
func TestMountPoints(t *testing.T) {
	top := t.TempDir()
	in := func(name string) string { return filepath.Join(top, name) }
	write := func(name, text string) error { return os.WriteFile(in(name), []byte(text), 0o600) }
	err := errors.Join(os.Mkdir(in("hooks"), 0o755), write("config", ""), write("outside", "user's"))
	runtime.LockOSThread() // for good: the thread and its mounts end with the test
	if failed := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); failed == nil {
		err = errors.Join(err, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("tmpfs", in("hooks"), "tmpfs", 0, ""),
			unix.Mount(in("outside"), in("config"), "", unix.MS_BIND, ""))
		t.Cleanup(func() {
			_ = errors.Join(unix.Unmount(in("hooks"), unix.MNT_DETACH), unix.Unmount(in("config"), unix.MNT_DETACH))
		})
	} else {
		t.Log("without a mount:", failed)
	}
	want := map[string]string{"hooks/mine": "user's", "hooks/gone": "user's", "hooks/new": "", "config": "user's"}
	err = errors.Join(err, write("hooks/mine", "user's"), write("hooks/gone", "user's"), write("config", "user's"))
	kept, failed := putback.Files{Write: []string{top}, ReadOnly: []string{in("hooks"), in("config")}}.Keep()
	err = errors.Join(err, failed, write("hooks/mine", "agent's"), os.Remove(in("hooks/gone")), write("hooks/new", "agent's"), write("config", "agent's"))
	if err = errors.Join(err, kept.PutBack(func([]string) {})); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name := range want {
		text, _ := os.ReadFile(in(name)) // nothing where it is missing
		got[name] = string(text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
