package putback_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/testsupport/rights"
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

// What the user reaches through a link of their own is put back where that leads, also if it leads to nothing any more,
// or to a closed folder.
func TestBehindALinkOfTheUser(t *testing.T) {
	for name, change := range map[string]func(top string) error{
		"removed": func(top string) error { return os.RemoveAll(filepath.Join(top, "real")) },
		"closed": func(top string) error {
			folder := filepath.Join(top, "real")
			return errors.Join(os.WriteFile(filepath.Join(folder, "settings"), []byte("agent's"), 0o600), os.Chmod(folder, 0o500))
		},
		"led out of it": func(top string) error {
			folder := filepath.Join(top, "real")
			return errors.Join(os.RemoveAll(folder), os.Symlink("/", folder))
		},
		"led elsewhere": func(top string) error {
			link := filepath.Join(top, "middle")
			return errors.Join(os.Remove(link), os.Symlink("other", link))
		},
		"without a link": func(top string) error {
			return errors.Join(os.Remove(filepath.Join(top, "own")), os.Remove(filepath.Join(top, "real/settings")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			rights.Drop(t, top)
			in := func(name string) string { return filepath.Join(top, name) }
			err := errors.Join(os.Mkdir(in("real"), 0o755), os.WriteFile(in("real/settings"), []byte("user's"), 0o600), os.Symlink("middle", in("own")), os.Symlink("real", in("middle")))
			err = errors.Join(err, os.Mkdir(in("other"), 0o755), os.WriteFile(in("other/settings"), []byte("another's"), 0o600))
			kept, failed := putback.Files{Write: []string{top}, ReadOnly: []string{in("own/settings")}}.Keep()
			err = errors.Join(err, failed, change(top), kept.PutBack(func([]string) {}))
			text, failed := os.ReadFile(in("own/settings"))
			other, unread := os.ReadFile(in("other/settings"))
			to, missing := os.Readlink(in("own"))
			if to != "middle" || string(text) != "user's" || string(other) != "another's" || errors.Join(err, failed, missing, unread) != nil {
				t.Errorf("the link leads to %q, and the files say %q and %q: %v, %v, %v", to, text, other, err, failed, missing)
			}
		})
	}
}

// What a link in a guarded folder leads to is the user's, too, with each link on the way.
func TestWhatALinkLeadsTo(t *testing.T) {
	top := t.TempDir()
	in := func(name string) string { return filepath.Join(top, name) }
	err := errors.Join(os.Mkdir(in("home"), 0o755), os.Mkdir(in("own"), 0o755), os.WriteFile(in("own/settings"), []byte("user's"), 0o600), os.Symlink("own", in("middle")))
	err = errors.Join(err, os.Symlink("../middle/settings", in("home/settings")), os.Symlink("..", in("home/all")), os.Symlink("../missing", in("home/missing")))
	err = errors.Join(err, os.Mkdir(in("home/hooks"), 0o755), os.WriteFile(in("own/hook"), nil, 0o600), os.Symlink("../../own/hook", in("home/hooks/hook")))
	err = errors.Join(err, os.Mkdir(in("more"), 0o755), os.Symlink("../more", in("home/more")), os.Symlink("../own/deep", in("more/deep")))
	kept, failed := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: in("home")}}}.Keep()
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	want := []string{in("home/all"), in("home/hooks"), in("home/missing"), in("home/more"), in("home/settings"), in("own/hook"), in("missing"), in("more"), in("own/settings"), in("middle"), in("own/deep")}
	if diff := cmp.Diff(want, kept.Closed); diff != "" {
		t.Errorf("not to be written to are (-want +got):\n%s", diff)
	}
	err = errors.Join(os.WriteFile(in("own/settings"), []byte("agent's"), 0o600), os.Remove(in("middle")), os.WriteFile(in("missing"), nil, 0o600), kept.PutBack(func([]string) {}))
	text, failed := os.ReadFile(in("home/settings"))
	if _, missing := os.Lstat(in("missing")); string(text) != "user's" || !errors.Is(missing, os.ErrNotExist) || errors.Join(err, failed) != nil {
		t.Errorf("the file says %q: %v, %v, %v", text, err, failed, missing)
	}
}

// An agent can fill a folder that is read-only only later. What links of the user's lead to stays closed, or nothing
// starts.
func TestLinksAmongMany(t *testing.T) {
	top := t.TempDir()
	in := func(name string) string { return filepath.Join(top, name) }
	err := errors.Join(os.Mkdir(in("home"), 0o755), os.WriteFile(in("hook"), nil, 0o600), os.Symlink("../hook", in("home/hook")), os.Mkdir(in("full"), 0o755))
	for n := range 20 {
		err = errors.Join(err, os.Mkdir(in("full/"+strconv.Itoa(n)), 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	f := putback.Files{Write: []string{top}, ReadOnly: []string{in("full")}, Guards: []putback.Guard{{Dir: in("home")}}}
	for few, starts := range map[int]bool{10: false, 100: false, 150: true} { // a link counts as more than an entry
		putback.WalkFew(t.Cleanup, few)
		kept, err := f.Keep()
		if err == nil != starts || (fault.Hint(err) == "") != starts || starts && !slices.Contains(kept.Closed, in("hook")) {
			t.Errorf("with %d entries, not to be written to are %q: %v", few, kept.Closed, err)
		}
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file in place of a folder above a guarded one, which git ignores, keeps no command from starting.
func TestAFileAboveAGuardedFolder(t *testing.T) {
	top := t.TempDir()
	if err := os.WriteFile(filepath.Join(top, "objects"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: filepath.Join(top, "objects", "info")}}}.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.PutBack(func(names []string) { t.Errorf("%q were put back", names) }); err != nil {
		t.Error(err)
	}
}

// A folder that the way of a user's link leads through and back may be filled, removed and made anew, but not replaced by
// a link: the user's link would lead elsewhere. So it is after a kill, and for a command that begins meanwhile.
func TestAFolderOnTheWayAndBack(t *testing.T) {
	for name, one := range map[string]struct {
		change func(top string) error
		led    []string // those that became links
		there  bool
	}{
		"replaced": {func(top string) error {
			return errors.Join(os.Rename(filepath.Join(top, "real"), filepath.Join(top, "more/real")), os.Symlink("more/real", filepath.Join(top, "real")))
		}, []string{"real"}, false},
		"a file": {func(top string) error {
			return errors.Join(os.Remove(filepath.Join(top, "real")), os.WriteFile(filepath.Join(top, "real"), nil, 0o600))
		}, nil, true},
		"filled":  {func(top string) error { return os.Symlink("more", filepath.Join(top, "real/link")) }, nil, true},
		"removed": {func(top string) error { return os.Remove(filepath.Join(top, "real")) }, nil, false},
		"made":    {func(top string) error { return os.Mkdir(filepath.Join(top, "missing"), 0o755) }, nil, true},
		"linked":  {func(top string) error { return os.Symlink("more", filepath.Join(top, "missing")) }, []string{"missing"}, true},
	} {
		for _, after := range []string{"the command", "a kill", "another command"} {
			top := t.TempDir()
			err := errors.Join(os.Mkdir(filepath.Join(top, "real"), 0o755), os.Mkdir(filepath.Join(top, "more"), 0o755), os.Mkdir(filepath.Join(top, "home"), 0o755))
			err = errors.Join(err, os.WriteFile(filepath.Join(top, "x"), nil, 0o600), os.WriteFile(filepath.Join(top, "more/x"), nil, 0o600),
				os.Symlink("../real/../x", filepath.Join(top, "home/a")), os.Symlink("../missing/../x", filepath.Join(top, "home/b")))
			var mark []byte
			f := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: filepath.Join(top, "home")}}, Mark: func() ([][]byte, func([]byte) (func(bool) error, error), error) {
				return [][]byte{mark}, func(text []byte) (func(bool) error, error) {
					mark = text
					return func(bool) error { return nil }, nil
				}, nil
			}}
			kept, failed := f.Keep()
			if err = errors.Join(err, failed, one.change(top)); err != nil {
				t.Fatal(err)
			}
			var told []string
			tell := func(names []string) { told = names }
			switch after {
			case "a kill":
				told, _, err = putback.Recover(mark, false)
			case "another command":
				kept, failed = f.Keep()
				err = errors.Join(failed, kept.PutBack(tell))
			default:
				err = kept.PutBack(tell)
			}
			var want []string
			for _, name := range one.led {
				want = append(want, filepath.Join(top, name))
			}
			if diff := cmp.Diff(want, told); diff != "" || err != nil {
				t.Errorf("%s, after %s: %v, told (-want +got):\n%s", name, after, err, diff)
			}
			for _, dir := range []string{"real", "missing"} {
				if to, err := os.Readlink(filepath.Join(top, dir)); err == nil {
					t.Errorf("%s, after %s: %s leads to %s", name, after, dir, to)
				}
			}
			if _, err := os.Lstat(filepath.Join(top, "real")); err == nil != one.there {
				t.Errorf("%s, after %s: the folder: %v", name, after, err)
			}
		}
	}
}

// Where a user's link leads is decided by what stood before the first command's program ran, also if a second command
// began while a link of that program stood on the way. What the user makes in its place between both ends stays.
func TestALinkFromBetween(t *testing.T) {
	for name, one := range map[string]struct {
		user, agent func(in func(string) string) error
		want, mine  string
	}{
		"a folder was there": {
			func(in func(string) string) error {
				return errors.Join(os.Mkdir(in("dir"), 0o755), os.WriteFile(in("dir/x"), []byte("user's"), 0o600))
			},
			func(in func(string) string) error {
				return errors.Join(os.Rename(in("dir"), in("moved")), os.Symlink("agent's", in("dir")))
			}, "user's", "dir/mine",
		},
		"nothing was there": {
			func(func(string) string) error { return nil },
			func(in func(string) string) error { return os.Symlink("agent's", in("dir")) }, "", "dir/mine",
		},
		"the link is the user's": {
			func(in func(string) string) error {
				return errors.Join(os.Mkdir(in("real"), 0o755), os.Symlink("real", in("dir")))
			},
			func(in func(string) string) error { return os.WriteFile(in("real/x"), []byte("agent's"), 0o600) }, "", "mine",
		},
	} {
		top := t.TempDir()
		in := func(name string) string { return filepath.Join(top, name) }
		var marks [][]byte
		f := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: in("home")}}, Mark: func() ([][]byte, func([]byte) (func(bool) error, error), error) {
			return marks, func(text []byte) (func(bool) error, error) {
				marks = append(marks, text)
				return func(bool) error { return nil }, nil
			}, nil
		}}
		err := errors.Join(os.Mkdir(in("home"), 0o755), os.Symlink("../dir/x", in("home/link")), one.user(in))
		first, failed := f.Keep()
		err = errors.Join(err, failed, os.Mkdir(in("agent's"), 0o755), os.WriteFile(in("agent's/x"), []byte("agent's"), 0o600), one.agent(in))
		if err != nil {
			t.Fatal(err)
		}
		f.ReadOnly, _ = f.Named(marks[0])
		second, failed := f.Keep()
		err = errors.Join(failed, first.PutBack(nil), os.MkdirAll(in("dir"), 0o755), os.WriteFile(in(one.mine), nil, 0o600), second.PutBack(nil))
		text, _ := os.ReadFile(in("home/link"))
		if _, missing := os.Lstat(in(one.mine)); string(text) != one.want || errors.Join(err, missing) != nil {
			t.Errorf("%s: the user's link leads to %q: %v, %v", name, text, err, missing)
		}
	}
}
