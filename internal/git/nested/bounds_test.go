//go:build !windows

package nested_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/nested"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// allocated returns how many MB a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// bottom makes a chain of folders, and returns the last one: its path may be too long to be named.
func (w watched) bottom(name string, depth int) *untrusted.Root {
	w.Helper()
	root, err := untrusted.OpenRoot(w.top)
	for range depth {
		if err != nil {
			w.Fatal(err)
		}
		above := root
		if err = above.Mkdir(name, 0o755); err == nil {
			root, err = above.OpenRoot(name)
		}
		err = errors.Join(err, above.Close())
	}
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { root.Close() })
	return root
}

// What an agent leaves in a new repository is not kept in memory, name by name.
func TestNewRepositoriesTakeLittleMemory(t *testing.T) {
	w := watch(t, nil)
	in := w.bottom(strings.Repeat("d", 100), 150)
	err := in.Mkdir(".git", 0o755)
	for n := range 2000 {
		err = errors.Join(err, in.WriteFile(".git/unknown"+strconv.Itoa(n), nil, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	var moved []string
	if got := allocated(func() { moved = w.after() }); got > 200 || len(moved) != 1 {
		t.Errorf("allocated %d MB to move %d names, want at most 200 MB, and 1 name", got, len(moved))
	}
}

// What is kept of the names in a repository that stood there has a bound, which is told.
func TestKnownRepositoriesTakeLittleMemory(t *testing.T) {
	w := watch(t, nil)
	in := w.bottom(strings.Repeat("d", 250), 100)
	if err := in.Mkdir(".git", 0o755); err != nil {
		t.Fatal(err)
	}
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	var err error
	for n := range 3000 {
		err = errors.Join(err, in.WriteFile(".git/unknown"+strconv.Itoa(n), nil, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
	var moved []string
	got := allocated(func() { moved, err = settle(t.Context()) })
	if got > 1000 || len(moved) == 0 || !errors.Is(err, nested.ErrNotAll) {
		t.Errorf("allocated %d MB to move %d names, %v; want at most 1000 MB, and that it is told", got, len(moved), err)
	}
}

// A repository that the search before a command did not come to is not taken for a new one.
func TestRepositoriesBehindTheEndStay(t *testing.T) {
	w := watch(t, nil)
	in := w.bottom(strings.Repeat("d", 250), 100)
	err := in.Mkdir(".git", 0o755)
	for n := range 1000 {
		err = errors.Join(err, in.WriteFile(".git/unknown"+strconv.Itoa(n), nil, 0o644))
	}
	theirs := filepath.Join(w.top, "theirs", ".git")
	if err = errors.Join(err, os.MkdirAll(theirs, 0o755)); err != nil {
		t.Fatal(err)
	}
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	if err = untrusted.RemoveAll(filepath.Join(w.top, strings.Repeat("d", 250))); err != nil {
		t.Fatal(err)
	}
	moved, err := settle(t.Context())
	if _, gone := os.Lstat(theirs); len(moved) > 0 || !errors.Is(err, nested.ErrNotAll) || gone != nil {
		t.Errorf("moved %q, %v, %v; want nothing moved, and that it is told", moved, err, gone)
	}
}

// Folders that are too deep are each moved and searched once.
func TestManyDeepFolders(t *testing.T) {
	w := watch(t, nil)
	in := w.bottom("d", 255)
	for n := range 2000 {
		if err := in.Mkdir(strconv.Itoa(n), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(in.MkdirAll("1999/in/.git", 0o755), in.WriteFile("1999/in/.git/HEAD", nil, 0o644), in.Mkdir("1998/.hg", 0o755)); err != nil {
		t.Fatal(err)
	}
	var moved []string
	if got := allocated(func() { moved = w.after() }); got > 300 || len(moved) != 1 {
		t.Errorf("allocated %d MB to move %q, want at most 300 MB, and 1 name", got, moved)
	}
	err := filepath.WalkDir(w.top, func(path string, e fs.DirEntry, err error) error {
		if path != filepath.Join(w.top, ".git") && (e.Name() == ".git" || e.Name() == ".hg") {
			t.Errorf("%s is still there", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	w.again().want()
}

// Long names in deep folders keep no search busy for long. With 3,000 of them it took hours.
func TestDeepFoldersWithLongNames(t *testing.T) {
	w := watch(t, nil)
	if err := w.bottom(strings.Repeat("d", 250), 1000).MkdirAll("in/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	if moved := w.after(); len(moved) == 0 {
		t.Error("nothing is moved")
	}
}

// Folders of submodules and worktrees that no work tree leads to are moved aside without asking git, also
// one with a long name, and then count no more.
func TestManyHalfSubmodules(t *testing.T) {
	w := watch(t, map[string]string{".git/modules/mine/HEAD": "x"})
	calls, run := 0, w.git.Run
	w.git.Run = func(ctx context.Context, command process.Command) (process.Result, error) {
		calls++
		return run(ctx, command)
	}
	w = w.again()
	w.fill(map[string]string{".git/worktrees/" + strings.Repeat("n", 250) + "/HEAD": "x", ".git/modules/mine/index.lock": "x"})
	for n := range 2000 {
		w.fill(map[string]string{".git/modules/" + strconv.Itoa(n) + "/HEAD": "ref: refs/heads/main", ".git/modules/" + strconv.Itoa(n) + "/config": fsmonitor})
	}
	if moved := w.after(); len(moved) != 2001 || calls > 2 {
		t.Errorf("moved %d folders with %d calls of git, want 2001 and one call, for info/exclude", len(moved), calls)
	}
	if got := guarded.Folder(w.top); len(got.Guarded) != 6 || len(got.ReadOnly) != 1 {
		t.Errorf("%d folders are guarded, and %q is read-only", len(got.Guarded)/3, got.ReadOnly)
	}
}

// A list of other stores is not looked up line by line, however deep it lies.
func TestLongListsTakeLittleMemory(t *testing.T) {
	w := watch(t, nil)
	in := w.bottom(strings.Repeat("d", 50), 60)
	if err := in.MkdirAll("n/.git/objects/info", 0o755); err != nil {
		t.Fatal(err)
	}
	w = w.again()
	list := []byte(strings.Repeat("x\n", 490_000))
	if err := in.WriteFile("n/.git/objects/info/alternates", list, 0o644); err != nil {
		t.Fatal(err)
	}
	var moved []string
	if got := allocated(func() { moved = w.after() }); got > 100 || len(moved) != 1 {
		t.Errorf("allocated %d MB to move %d names, want at most 100 MB, and 1 name", got, len(moved))
	}
}

// counted counts the calls of git in the searches that follow.
func (w watched) counted(calls *int, each func()) watched {
	run := w.git.Run
	w.git.Run = func(ctx context.Context, command process.Command) (process.Result, error) {
		*calls++
		each()
		return run(ctx, command)
	}
	return w.again()
}

func includes(n int) string {
	var text strings.Builder
	text.WriteString("[include]\n")
	for i := range n {
		text.WriteString("path = x" + strconv.Itoa(i) + "\n")
	}
	return text.String()
}

// What a new configuration includes is not looked for.
func TestNewConfigurationsAreNotFollowed(t *testing.T) {
	calls, w := 0, watch(t, nil)
	w = w.counted(&calls, func() {})
	w.fill(bare("b", "[include]\npath = a\n"))
	w.fill(map[string]string{"b/a": "[include]\n" + strings.Repeat("path = a\n", 300)})
	var moved []string
	if got := allocated(func() { moved = w.after() }); got > 100 || calls > 3 || len(moved) != 1 {
		t.Errorf("allocated %d MB and called git %d times to move %q; want at most 100 MB, 3 calls, and 1 name", got, calls, moved)
	}
}

// A configuration of the user's that includes more files than are looked for counts as changed, and so does one that
// includes such a file of an agent.
func TestConfigurationsThatIncludeMuch(t *testing.T) {
	w := watch(t, map[string]string{
		"n/.git/HEAD": "x", "n/.git/config": "[include]\npath = ../../x\n",
		"m/.git/HEAD": "x", "m/.git/config": includes(101), "o/.git/HEAD": "x", "o/.git/config": includes(99), "x": "",
	})
	calls := 0
	w = w.counted(&calls, func() {})
	calls = 0
	w.fill(map[string]string{"x": includes(10_000)})
	w.want("m/.git/config", "n/.git/config")
	if calls > 10 {
		t.Errorf("git was called %d times, want at most 10", calls)
	}
}

// The end of a search ends it also within what a configuration includes: nothing is moved by half a look, and the next
// one finds it.
func TestTheEndComesWhileIncludesAreRead(t *testing.T) {
	files := map[string]string{"n/.git/HEAD": "x", "n/.git/config": "[include]\npath = ../../x0\n"}
	for i := range 10 {
		files["x"+strconv.Itoa(i)] = "[include]\npath = x" + strconv.Itoa(i+1) + "\n"
	}
	calls, w := 0, watch(t, files)
	end := func() {}
	w = w.counted(&calls, func() { end() })
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	ctx, cancel := context.WithCancel(t.Context())
	calls, end = 0, cancel
	if moved, err := settle(ctx); len(moved) > 0 || !errors.Is(err, nested.ErrNotAll) || calls > 2 {
		t.Errorf("after the end: moved %q, %v, with %d calls of git", moved, err, calls)
	}
	end = func() {}
	if moved, err := settle(t.Context()); len(moved) > 0 || err != nil {
		t.Errorf("the next one: moved %q, %v", moved, err)
	}
}

// The names of an index are judged as git prints them, and not kept: a small index in git's version 4 can have any
// number of long ones.
func TestIndexesTakeLittleMemory(t *testing.T) {
	w := watch(t, map[string]string{"n/.git/HEAD": "ref: refs/heads/main", "n/.git/objects/x": "", "n/.git/refs/x": "", "n/.git/index": ""})
	printed := append(bytes.Repeat([]byte("d/"), 2000), 0)
	var before, after runtime.MemStats
	w.git.Run = func(_ context.Context, command process.Command) (res process.Result, err error) {
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range 10_000 {
			_, failed := command.Stdout.Write(printed)
			err = errors.Join(err, failed)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		return res, err
	}
	w = w.again()
	w.fill(map[string]string{"n/.git/index": "x"})
	w.want()
	if after.HeapAlloc > before.HeapAlloc+10<<20 {
		t.Errorf("%d MB are kept of 40 MB of names, want at most 10 MB", (after.HeapAlloc-before.HeapAlloc)>>20)
	}
	if before.HeapAlloc == 0 {
		t.Error("git was not asked")
	}
}

// Links may lead through many others, so that to follow them all takes hours. What is no link is found nevertheless.
func TestLinksAreFollowedForALimitedTime(t *testing.T) {
	nested.FollowNoLinks(t)
	w := watch(t, nil)
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	w.fill(map[string]string{"link": "->elsewhere", "pipe": "|", "web/.git/HEAD": "x"})
	moved, err := settle(t.Context())
	if !slices.Equal(moved, []string{"web/.git.moved-by-ralph"}) || !errors.Is(err, nested.ErrLinks) {
		t.Errorf("moved aside %q, %v", moved, err)
	}
	if _, err := os.Lstat(filepath.Join(w.top, "pipe")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the pipe stays: %v", err)
	}
}

// The work trees of new submodules are looked up for as long: a configuration can name many long paths.
func TestSubmodulesAreLookedUpForALimitedTime(t *testing.T) {
	nested.FollowNoLinks(t)
	w := watch(t, nil)
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	w.fill(map[string]string{
		"sub/.git": "gitdir: ../.git/modules/sub", ".git/modules/sub/config": "[core]\n\tworktree = ../../../sub\n", ".git/modules/sub/HEAD": "x",
		".git/modules/sub/objects/x": "x", ".git/modules/sub/refs/x": "x",
	})
	moved, err := settle(t.Context())
	if !slices.Equal(moved, []string{".git/modules/sub.moved-by-ralph", "sub/.git.moved-by-ralph"}) || !errors.Is(err, nested.ErrLinks) {
		t.Errorf("moved aside %q, %v", moved, err)
	}
}

// What files name is looked up for as long: a link on the way may lead through many others since a .git leads over
// it. Then these files count as changed, and only what git makes stays.
func TestNamesAreLookedUpForALimitedTime(t *testing.T) {
	w := watch(t, map[string]string{
		"sub/.git": "gitdir: ../way/modules/sub", ".git/modules/sub/config": "[core]\n\tworktree = ../../../sub\n", ".git/modules/sub/HEAD": "x",
		".git/modules/sub/objects/x": "x", ".git/modules/sub/refs/x": "x", "way": "->.git", "led/.git": "gitdir: ../elsewhere",
		"own/.git/config": "[include]\n\tpath = ../more\n", "own/.git/HEAD": "x", "own/.git/hooks": "->../hooks",
		"store/.git/objects/info/alternates": "../../../../own/.git/objects\n", "store/.git/HEAD": "x", "store/.git/hooks/x": "x",
	})
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	nested.LookUpNoNames(t)
	moved, err := settle(t.Context())
	for i, name := range moved {
		moved[i] = strings.TrimSuffix(name, nested.Aside)
	}
	want := []string{"led/.git", "own/.git/config", "own/.git/hooks", "store/.git/objects/info/alternates"}
	if !slices.Equal(moved, want) || !errors.Is(err, nested.ErrNames) {
		t.Errorf("moved aside %q, %v; want %q", moved, err, want)
	}
}
