//go:build !windows

package nested_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/nested"
)

// marked is watched by another command, which keeps in marks what was there before.
func (w watched) marked(marks string) watched {
	return w.with(guarded.Folder(w.top), marks)
}

func (w watched) with(needs guarded.Needs, marks string) watched {
	early, settle := nested.Watch(w.Context(), w.git, w.top, needs, marks)
	w.after = func() []string {
		moved, err := settle(w.Context())
		if err != nil {
			w.Error(err)
		}
		return append(early, moved...)
	}
	return w
}

func (w watched) wantNoMark(marks string) {
	w.Helper()
	if left, err := os.ReadDir(marks); len(left) > 0 || err != nil {
		w.Errorf("left is %v, %v; want no mark", left, err)
	}
}

const killedIn = "RALPH_TEST_KILLED_IN"

// What a command leaves whose ralph was killed is not taken for the user's own by the next one, and
// neither is a submodule that it made: it seems to be the project's.
func TestKilled(t *testing.T) {
	planted := map[string]string{
		"n/.git/hooks/pre-commit": "x", "k/.git/config": fsmonitor,
		"sub/.git": "gitdir: ../.git/modules/sub", ".git/modules/sub/config": "[core]\n\tworktree = ../../../sub\n\tfsmonitor = x\n", ".git/modules/sub/HEAD": "x",
		".git/modules/sub/objects/x": "x", ".git/modules/sub/refs/x": "x",
	}
	if top := os.Getenv(killedIn); top != "" {
		w := watched{T: t, top: top, git: watch(t, nil).git}
		w.marked(filepath.Join(top, ".git", "marks"))
		w.fill(planted)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	w := watch(t, map[string]string{"n/.git/HEAD": "x", "n/.git/config": fsmonitor})
	marks := filepath.Join(w.top, ".git", "marks")
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	again.Env = append(os.Environ(), killedIn+"="+w.top)
	if out, err := again.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed: %s", out)
	}
	next := w.marked(marks)
	for _, name := range []string{"n/.git/hooks", "k/.git", ".git/modules/sub/config"} {
		if _, err := os.Lstat(filepath.Join(w.top, name)); err == nil {
			t.Errorf("%s is still there when the next command begins", name)
		}
	}
	want := []string{".git/modules/sub/config" + nested.Aside, "k/.git" + nested.Aside, "n/.git/hooks" + nested.Aside, "sub/.git" + nested.Aside}
	if diff := cmp.Diff(want, next.after()); diff != "" {
		t.Errorf("moved aside (-want +got):\n%s", diff)
	}
	w.wantNoMark(marks)
	w.marked(marks).want()
}

// Of two commands at once, the second does not take for the user's own what the first one's agent made.
func TestTwoCommandsAtOnce(t *testing.T) {
	w, marks := watch(t, nil), t.TempDir()
	first := w.marked(marks)
	w.fill(map[string]string{"k/.git/config": fsmonitor})
	second := w.marked(marks)
	second.want("k/.git" + nested.Aside)
	w.fill(map[string]string{"m/.git/config": fsmonitor})
	third := w.marked(marks)
	third.want("m/.git" + nested.Aside)
	w.fill(map[string]string{"o/.git/config": fsmonitor})
	first.want("o/.git" + nested.Aside)
	w.wantNoMark(marks)
}

// What only the first of two commands guards does not stay as the second made it: it was hidden when the second began.
// Where the second cannot write, all stays.
func TestGuardedByTheOtherAlone(t *testing.T) {
	for write, want := range map[string][]string{".": {".git/modules/sub/config" + nested.Aside}, "deep": nil} {
		w, marks := watch(t, map[string]string{".git/modules/sub/HEAD": "x", ".git/modules/sub/config": ""}), t.TempDir()
		first := w.marked(marks)
		second := w.with(guarded.Needs{Write: []string{filepath.Join(w.top, write)}, Guarded: guarded.Needs{}.With(filepath.Join(w.top, write, ".git")).Guarded}, marks)
		first.want()
		w.fill(map[string]string{".git/modules/sub/config": fsmonitor})
		second.want(want...)
	}
}

// Nor does a command in a repository below, in any folder of the way, while its own files stay.
func TestCommandBelow(t *testing.T) {
	w, marks := watch(t, map[string]string{"a/k/.git/HEAD": "ref: refs/heads/main", "a/k/.git/config": "", "a/k/.git/objects/x": "", "a/k/.git/refs/x": ""}), t.TempDir()
	first := w.marked(marks)
	w.fill(map[string]string{"a/k/.git/config": fsmonitor, "a/k/.git/hooks/pre-commit": "x", "a/m/.git/config": fsmonitor, "a/k/.git/info/exclude": "x", "a/k/.git/ralph-sandboxed": ""})
	below := w
	below.top = filepath.Join(w.top, "a/k")
	second := below.marked(marks)
	for _, name := range []string{".git/config", ".git/hooks"} {
		if _, err := os.Lstat(filepath.Join(below.top, name)); err == nil {
			t.Errorf("%s is still there when the command below begins", name)
		}
	}
	second.want(".git/config"+nested.Aside, ".git/hooks"+nested.Aside)
	first.want("a/m/.git" + nested.Aside)
	w.wantNoMark(marks)
}

// What the record of a command above says counts below also after that command has ended: another command may have
// taken up what its agent wrote, and put it back.
func TestRecordOfACommandAbove(t *testing.T) {
	w, marks := watch(t, map[string]string{"a/k/.git/HEAD": "ref: refs/heads/main", "a/k/.git/config": "", "a/k/.git/objects/x": "", "a/k/.git/refs/x": ""}), t.TempDir()
	above := w.marked(marks)
	below := []string{filepath.Join(w.top, "a/k")}
	records, err := nested.Above(below, marks)
	if err != nil {
		t.Fatal(err)
	}
	above.want()
	w.fill(map[string]string{"a/k/.git/config": fsmonitor, "a/m/.git/config": fsmonitor})
	moved, err := nested.SettleBy(t.Context(), w.git, below, records)
	if diff := cmp.Diff([]string{filepath.Join(below[0], ".git/config"+nested.Aside)}, moved); diff != "" || err != nil {
		t.Errorf("%v; moved aside (-want +got):\n%s", err, diff)
	}
	if records, err := nested.Above(below, marks); len(records) > 0 || err != nil {
		t.Errorf("records of a command that has ended are still there: %d, %v", len(records), err)
	}
}

const withoutRoom = "RALPH_TEST_WITHOUT_ROOM"

// A mark that cannot be written is told of, and is gone at once: the next command would wait for its text.
func TestMarkThatCannotBeWritten(t *testing.T) {
	if os.Getenv(withoutRoom) == "" { // go test writes to files itself
		alone := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMarkThatCannotBeWritten$")
		alone.Env = append(os.Environ(), withoutRoom+"=1")
		if out, err := alone.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	w, marks := watch(t, nil), t.TempDir()
	var usual syscall.Rlimit
	signal.Ignore(syscall.SIGXFSZ)
	err := errors.Join(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual), syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: usual.Max}))
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), marks)
	if err := errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual)); err != nil {
		t.Fatal(err)
	}
	w.wantNoMark(marks)
	w.fill(map[string]string{"k/.git/config": fsmonitor})
	moved, err := settle(t.Context())
	if diff := cmp.Diff([]string{"k/.git" + nested.Aside}, moved); diff != "" || !errors.Is(err, syscall.EFBIG) {
		t.Errorf("%v; moved aside (-want +got):\n%s", err, diff)
	}
}

// A repository that an earlier command broke is still one: its configuration and hooks count once it is mended.
func TestRepositoriesThatWereBroken(t *testing.T) {
	const config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	parts := map[string]string{"HEAD": "ref: refs/heads/x", "objects/x": "x", "refs/x": "x"}
	for missing := range parts {
		before := map[string]string{"b/config": config, "b/hooks/post-update.sample": "x", "ordinary/config": config, "like/config": "x", "like/objects/x": "x"}
		for name, text := range parts {
			if name != missing {
				before["b/"+name] = text
			}
		}
		w := watch(t, before)
		w.fill(map[string]string{"b/config": config + fsmonitor, "b/hooks/post-update": "x", "ordinary/config": fsmonitor, "like/config": fsmonitor, "like/new": "x"})
		w.want("b/config", "b/hooks")
	}
}
