package putback_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/testsupport/rights"
)

// guarded is a project whose git folder is kept, with the mark of that.
type guarded struct {
	*testing.T

	top  string
	kept putback.Kept
	mark []byte
	done []bool
}

func guard(t *testing.T, top string) *guarded {
	t.Helper()
	g := &guarded{T: t, top: top}
	var err error
	g.kept, err = putback.Files{
		Write: []string{top}, ReadOnly: []string{filepath.Join(top, ".gitmodules"), filepath.Join(top, ".claude", "settings.local.json")},
		Guards: []putback.Guard{{Dir: filepath.Join(top, ".git"), But: []string{"HEAD", "logs", "index"}}},
		Fields: map[string][]string{filepath.Join(top, "fields.json"): {"may"}},
		Mark: func() ([][]byte, func([]byte) (func(bool) error, error), error) {
			return nil, func(text []byte) (func(bool) error, error) {
				g.mark = text
				return func(done bool) error {
					g.done = append(g.done, done)
					return nil
				}, nil
			}, nil
		},
	}.Keep()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *guarded) write(names ...string) {
	g.Helper()
	for _, name := range names {
		name = filepath.Join(g.top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("x"), 0o600)); err != nil {
			g.Fatal(err)
		}
	}
}

// wantMoved recovers what stood when the folder was kept.
func (g *guarded) wantMoved(names ...string) {
	g.Helper()
	var want []string
	for _, name := range names {
		want = append(want, filepath.Join(g.top, name))
	}
	moved, _, err := putback.Recover(g.mark, false)
	if diff := cmp.Diff(want, moved); diff != "" || err != nil {
		g.Errorf("moved %v (-want +got):\n%s", err, diff)
	}
	for _, name := range want {
		aside, err := filepath.Glob(name + ".put-aside-*")
		if _, there := os.Lstat(name); !errors.Is(there, fs.ErrNotExist) || len(aside) != 1 || err != nil {
			g.Errorf("%s: %v, and aside are %q, %v", name, there, aside, err)
		}
	}
}

// What was added where nothing may be added is moved aside, and nothing is removed; what may change stays.
func TestRecover(t *testing.T) {
	g := guard(t, t.TempDir())
	g.write(".git/HEAD", ".git/config", ".git/logs/HEAD", ".git/hooks/old/a")
	g = guard(t, g.top)
	g.write(".git/hooks/old/b", ".git/hooks/pre-commit", ".git/config", ".git/commondir", ".git/rebase-merge/git-rebase-todo", ".git/index", ".git/logs/refs/x", ".gitmodules", ".claude/settings.local.json", "f")
	if err := os.Symlink("/", filepath.Join(g.top, ".git/logs/link")); err != nil {
		t.Fatal(err)
	}
	g.wantMoved(".git/commondir", ".git/logs/link", ".git/rebase-merge", ".gitmodules", ".claude/settings.local.json", ".git/hooks/old/b", ".git/hooks/pre-commit")
	for _, name := range []string{".git/HEAD", ".git/config", ".git/logs/HEAD", ".git/index", ".git/logs/refs/x", ".git/hooks/old/a", "f"} {
		if _, err := os.Lstat(filepath.Join(g.top, name)); err != nil {
			t.Error(err)
		}
	}
}

// What was added is found in folders that were closed since, too.
func TestRecoverWhereFoldersAreClosed(t *testing.T) {
	for _, mode := range []fs.FileMode{0, 0o111, 0o444, 0o555} {
		t.Run(mode.String(), func(t *testing.T) {
			top := t.TempDir()
			rights.Drop(t, top)
			g := guard(t, top)
			g.write(".git/hooks/a", ".git/hooks/old/a", ".claude/other")
			g = guard(t, top)
			g.write(".git/hooks/b", ".git/hooks/old/b", ".claude/settings.local.json")
			for _, dir := range []string{".git/hooks/old", ".git/hooks", ".git", ".claude"} {
				dir = filepath.Join(top, dir)
				if err := os.Chmod(dir, mode); err != nil {
					t.Fatal(err)
				}
			}
			g.wantMoved(".claude/settings.local.json", ".git/hooks/b", ".git/hooks/old/b")
		})
	}
}

// What stood in a folder is put back where something else took the folder's place, also a link to a folder with such a file.
func TestRecoverWhereAFolderIsReplaced(t *testing.T) {
	for name, replace := range map[string]func(claude string) error{
		"file":            func(claude string) error { return os.WriteFile(claude, nil, 0o644) },
		"link out":        func(claude string) error { return os.Symlink("/etc", claude) },
		"absolute link":   func(claude string) error { return os.Symlink(filepath.Join(filepath.Dir(claude), "agent's"), claude) },
		"link to nothing": func(claude string) error { return os.Symlink("none", claude) },
		"link":            func(claude string) error { return os.Symlink("agent's", claude) },
	} {
		g := guard(t, t.TempDir())
		g.write(".claude/settings.local.json")
		g = guard(t, g.top)
		g.write("agent's/settings.local.json")
		claude := filepath.Join(g.top, ".claude")
		if err := errors.Join(os.RemoveAll(claude), replace(claude)); err != nil {
			t.Fatal(err)
		}
		moved, restored, err := putback.Recover(g.mark, false)
		info, missing := os.Lstat(claude)
		if text, _ := os.ReadFile(filepath.Join(claude, "settings.local.json")); string(text) != "x" || missing != nil || !info.IsDir() || len(moved) != 1 || len(restored) != 1 || err != nil {
			t.Errorf("%s: moved %q, restored %q, %v: %q, %v, %v", name, moved, restored, err, text, info, missing)
		}
	}
}

// A link of the user's that leads elsewhere is put back, also with mounts: none covers a link. One that leads where it led
// stays, and so does a changed file that a mount covered.
func TestRecoverALink(t *testing.T) {
	for _, mounted := range []bool{false, true} {
		top := t.TempDir()
		in := func(name string) string { return filepath.Join(top, name) }
		err := errors.Join(os.Symlink("d", in("link")), os.Symlink("d", in("same")), os.WriteFile(in("file"), nil, 0o600))
		var mark []byte
		_, failed := putback.Files{
			Write: []string{top}, ReadOnly: []string{in("link"), in("same"), in("file")}, Mounted: mounted,
			Mark: func() ([][]byte, func([]byte) (func(bool) error, error), error) {
				return nil, func(text []byte) (func(bool) error, error) {
					mark = text
					return func(bool) error { return nil }, nil
				}, nil
			},
		}.Keep()
		err = errors.Join(err, failed, os.Remove(in("link")), os.Symlink("q", in("link")), os.WriteFile(in("file"), []byte("x"), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		moved, restored, err := putback.Recover(mark, false)
		if diff := cmp.Diff([][]string{{in("link")}, {in("link")}}, [][]string{moved, restored}); diff != "" || err != nil {
			t.Errorf("mounted %t: %v, moved and restored (-want +got):\n%s", mounted, err, diff)
		}
		if to, err := os.Readlink(in("link")); to != "d" || err != nil {
			t.Errorf("mounted %t: the link leads to %q, %v", mounted, to, err)
		}
	}
}

// A link on the way is moved aside itself, unless it was there.
func TestRecoverFromALinkOnTheWay(t *testing.T) {
	g := guard(t, t.TempDir())
	if err := os.Symlink("/", filepath.Join(g.top, ".claude")); err != nil {
		t.Fatal(err)
	}
	g.wantMoved(".claude")
	g.write("own/a")
	if err := os.Symlink("own", filepath.Join(g.top, ".claude")); err != nil {
		t.Fatal(err)
	}
	g = guard(t, g.top)
	g.wantMoved()
	g.write("own/settings.local.json")
	if moved, _, err := putback.Recover(g.mark, false); len(moved) != 1 || err != nil {
		t.Errorf("moved %q, %v", moved, err)
	}
	if to, err := os.Readlink(filepath.Join(g.top, ".claude")); to != "own" || err != nil {
		t.Errorf("the user's own link leads to %q, %v", to, err)
	}
}

// Of two at once, the second does not take for the user's own what the first one's program made: it puts back what
// stood before both.
func TestTwoAtOnce(t *testing.T) {
	for _, mounted := range []bool{false, true} {
		top := t.TempDir()
		var marks [][]byte
		keep := func(dir string) putback.Kept {
			kept, err := putback.Files{
				Write: []string{filepath.Join(top, dir)}, ReadOnly: []string{filepath.Join(top, ".git", "own", "made")},
				Guards:  []putback.Guard{{Dir: filepath.Join(top, ".git"), But: []string{"HEAD", "own"}}},
				Fields:  map[string][]string{filepath.Join(top, ".git", "own", "fields.json"): {"may"}},
				Mounted: mounted,
				Mark: func() ([][]byte, func([]byte) (func(bool) error, error), error) {
					return marks, func(text []byte) (func(bool) error, error) {
						marks = append(marks, text)
						return func(bool) error { return nil }, nil
					}, nil
				},
			}.Keep()
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}
		write := func(name, text string) {
			name = filepath.Join(top, ".git", name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		write("hooks/a", "user's")
		write("own/fields.json", `{"may": 1, "not": 1}`)
		first := keep(".")
		write("commondir", "agent's")
		write("own/made", "agent's")
		write("own/fields.json", `{"may": 2, "not": 2}`)
		write("hooks/a", "agent's") // also where it was mounted: after the user's git wrote it anew
		write("hooks/b", "agent's")
		second := keep("..")
		if err := errors.Join(first.PutBack(nil), second.PutBack(nil)); err != nil {
			t.Error(err)
		}
		want := map[string]string{"hooks/a": "user's", "own/fields.json": "{\n  \"may\": 2,\n  \"not\": 1\n}\n"}
		got := map[string]string{}
		for _, name := range []string{"hooks/a", "hooks/b", "commondir", "own/made", "own/fields.json"} {
			if text, err := os.ReadFile(filepath.Join(top, ".git", name)); err == nil {
				got[name] = string(text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mounted %v (-want +got):\n%s", mounted, diff)
		}
	}
}

// A mark goes when all was put back, and stays when it was not.
func TestMarkIsDone(t *testing.T) {
	g := guard(t, t.TempDir())
	if err := g.kept.Close(); err != nil || !cmp.Equal(g.done, []bool{false}) {
		t.Errorf("after Close: done %v, %v", g.done, err)
	}
	g = guard(t, g.top)
	if err := g.kept.PutBack(nil); err != nil || !cmp.Equal(g.done, []bool{true}) {
		t.Errorf("after PutBack: done %v, %v", g.done, err)
	}
}

// A mark that was cut off moves nothing, and neither does one of a project that is gone or has changed its form.
func TestRecoverWithoutAProject(t *testing.T) {
	g := guard(t, t.TempDir())
	g.write(".git/commondir", ".claude")
	whole := g.mark
	for _, text := range [][]byte{nil, []byte("x"), whole[:len(whole)-1]} {
		g.mark = text
		g.wantMoved()
	}
	g.mark = whole
	g.wantMoved(".git/commondir")
	if err := os.RemoveAll(g.top); err != nil {
		t.Fatal(err)
	}
	g.wantMoved()
}

// A command that writes to a file of the agent's state works in the project, and not in the home.
func TestFoldersOfAMark(t *testing.T) {
	home, top, text := t.TempDir(), t.TempDir(), []byte(nil)
	state := filepath.Join(home, ".claude.json")
	if err := os.WriteFile(state, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := putback.Files{
		Write: []string{state, top}, Guards: []putback.Guard{{Dir: filepath.Join(top, ".git")}}, Fields: map[string][]string{state: {"may"}},
		Mark: func() ([][]byte, func([]byte) (func(bool) error, error), error) {
			return nil, func(mark []byte) (func(bool) error, error) {
				text = mark
				return func(bool) error { return nil }, nil
			}, nil
		},
	}.Keep()
	if err = errors.Join(err, kept.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{top}, putback.Folders(text)); diff != "" {
		t.Errorf("it writes to (-want +got):\n%s", diff)
	}
}
