package putback_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
)

// What stands behind a link in place of its folder is not where it was, also if it is the same: the link may go with
// another file, and the next command may change what it led to.
func TestUnchangedBehindALink(t *testing.T) {
	for _, added := range []string{"moved/other", "moved/more"} {
		top, told := t.TempDir(), 0
		in := func(name string) string { return filepath.Join(top, name) }
		err := errors.Join(os.Mkdir(in("own"), 0o755), os.WriteFile(in("own/settings"), []byte("user's"), 0o600))
		kept, failed := putback.Files{Write: []string{top}, ReadOnly: []string{in("own/settings"), in("own/more")}}.Keep()
		err = errors.Join(err, failed, os.Rename(in("own"), in("moved")), os.Symlink("moved", in("own")), os.WriteFile(in(added), nil, 0o600))
		err = errors.Join(err, kept.PutBack(func(names []string) { told = len(names) }))
		text, failed := os.ReadFile(in("own/settings"))
		if to, _ := os.Readlink(in("own")); to != "" || string(text) != "user's" || told != 2 || errors.Join(err, failed) != nil {
			t.Errorf("with %s: the folder leads to %q, %d are told, and the file says %q: %v, %v", added, to, told, text, err, failed)
		}
	}
}
