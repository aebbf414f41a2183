package putback_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/testsupport/rights"
)

// A folder or file that is a mount point, as in a development container, cannot be replaced: what is in it is put back.
// Where nothing can be mounted, both are ordinary ones.
func TestMountPoints(t *testing.T) {
	top := t.TempDir()
	in := func(name string) string { return filepath.Join(top, name) }
	write := func(name, text string) error { return os.WriteFile(in(name), []byte(text), 0o600) }
	err := errors.Join(os.Mkdir(in("hooks"), 0o755), write("config", ""), write("outside", "user's"))
	mount := rights.Mounts(t)
	mount("tmpfs", "tmpfs", in("hooks"), "")
	mount("", in("outside"), in("config"), "")
	rights.Drop(t, top, in("hooks"), in("config"))
	want := map[string]string{"hooks/mine": "user's", "hooks/gone": "user's", "hooks/new": "", "config": "user's"}
	err = errors.Join(err, write("hooks/mine", "user's"), write("hooks/gone", "user's"), write("config", "user's"))
	kept, failed := putback.Files{Write: []string{top}, ReadOnly: []string{in("hooks"), in("config")}}.Keep()
	err = errors.Join(err, failed, write("hooks/mine", "agent's"), os.Remove(in("hooks/gone")), write("hooks/new", "agent's"), write("config", "agent's"), os.Chmod(in("config"), 0o400))
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

// Where a mount point was not there before, or more is mounted in it, not all is put back, and that is told.
func TestMountedMeanwhile(t *testing.T) {
	top, mount := t.TempDir(), rights.Mounts(t)
	in := func(name string) string { return filepath.Join(top, name) }
	kept, err := putback.Files{Write: []string{top}, ReadOnly: []string{in("hooks")}}.Keep()
	if err = errors.Join(err, os.Mkdir(in("hooks"), 0o755)); err != nil {
		t.Fatal(err)
	}
	mounted := mount("tmpfs", "tmpfs", in("hooks"), "")
	err = kept.PutBack(func([]string) {})
	if _, missing := os.Lstat(in("hooks")); errors.Is(err, putback.ErrNotPutBack) != mounted || (missing == nil) != mounted {
		t.Errorf("mounted %t: %v, %v", mounted, err, missing)
	}
}
