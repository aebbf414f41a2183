package putback_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/testsupport/rights"
)

// All links below a folder of logs are removed, however many there are: few are told, and none is kept in memory.
func TestManyLinksAreRemoved(t *testing.T) {
	top := t.TempDir()
	logs := filepath.Join(top, ".git", "logs")
	deep := filepath.Join(logs, strings.Repeat(strings.Repeat("d", 100)+"/", 30))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	kept, err := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: filepath.Join(top, ".git"), But: []string{"logs"}}}}.Keep()
	for n := range 5000 {
		err = errors.Join(err, os.Symlink("/", filepath.Join(deep, strconv.Itoa(n))))
	}
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := kept.PutBack(func(names []string) { told = append(told, names...) }); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; len(told) != 100 || got > 100 {
		t.Errorf("%d names are told, %d MB allocated; want 100, and at most 100 MB", len(told), got)
	}
	err = filepath.WalkDir(logs, func(path string, e fs.DirEntry, err error) error {
		if e.Type() == fs.ModeSymlink {
			t.Errorf("%s is still there", path)
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// However many files an agent leaves beside it, what it adds is removed, and so are links.
func TestACrowdedFolder(t *testing.T) {
	for _, added := range []string{"sequencer", "COMMIT_EDITMSG", "logs/HEAD", "logs/refs", "refs", "worktrees"} {
		for _, crowd := range []string{"0_EDITMSG", "logs", "logs/0", "refs/0"} {
			t.Run(added+" beside "+crowd, func(t *testing.T) {
				top := t.TempDir()
				in := func(name string) string { return filepath.Join(top, ".git", name) }
				if err := os.Mkdir(in("."), 0o755); err != nil {
					t.Fatal(err)
				}
				putback.WalkFew(t.Cleanup, 10)
				may := []string{"*_EDITMSG", "logs", "refs", "worktrees"}
				kept, err := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: in("."), But: may}}}.Keep()
				err = errors.Join(err, os.MkdirAll(in(crowd), 0o755), os.MkdirAll(filepath.Dir(in(added)), 0o755))
				for n := range 20 {
					err = errors.Join(err, os.WriteFile(in(crowd+"/"+strconv.Itoa(n)), nil, 0o600))
				}
				err = errors.Join(err, os.RemoveAll(in(added)), os.Symlink("/", in(added)), kept.PutBack(func([]string) {}))
				if _, left := os.Lstat(in(added)); err != nil || !errors.Is(left, fs.ErrNotExist) {
					t.Errorf("%v, what was added: %v", err, left)
				}
			})
		}
	}
}

// All files of a folder that may change share one budget, however many there are.
func TestLargeFilesAreNotKept(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, ".git")
	err := os.Mkdir(dir, 0o755)
	for n := range 20 {
		name := filepath.Join(dir, strconv.Itoa(n)+"_EDITMSG")
		err = errors.Join(err, os.WriteFile(name, nil, 0o600), os.Truncate(name, 15<<20))
	}
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	kept, err := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: dir, But: []string{"*_EDITMSG"}}}}.Keep()
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 100 {
		t.Errorf("%d MB allocated, want at most 100", got)
	}
	if err := kept.PutBack(func([]string) {}); err != nil {
		t.Error(err)
	}
}

// Large files that were not there, or were small, have changed: none is read, also where the file system misses changes.
func TestNewLargeFilesAreNotRead(t *testing.T) {
	top := t.TempDir()
	rights.Mounts(t)("tmpfs", "tmpfs", top, "size=64m")
	hook := func(n int) string { return filepath.Join(top, "hooks", strconv.Itoa(n)) }
	err := errors.Join(os.Mkdir(filepath.Join(top, "hooks"), 0o755), os.WriteFile(hook(0), []byte("user's"), 0o600))
	kept, failed := putback.Files{Write: []string{top}, ReadOnly: []string{filepath.Join(top, "hooks")}}.Keep()
	err = errors.Join(err, failed)
	for n := range 4 {
		err = errors.Join(err, os.WriteFile(hook(n), nil, 0o600), os.Truncate(hook(n), 256<<20))
	}
	before := bytesRead(t)
	if err = errors.Join(err, kept.PutBack(nil)); err != nil {
		t.Fatal(err)
	}
	if read := bytesRead(t) - before; read > 64<<20 {
		t.Errorf("%d MB were read", read>>20)
	}
	if text, err := os.ReadFile(hook(0)); string(text) != "user's" || err != nil {
		t.Errorf("%.20q, %v", text, err)
	}
}

func bytesRead(t *testing.T) (total int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if _, failed := fmt.Sscanf(string(text), "rchar: %d", &total); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return total
}

// An agent can make hundreds of folders and files that are kept: all of them share a budget, and small ones are
// put back however many there are.
func TestManyFoldersShareOneBudget(t *testing.T) {
	top := t.TempDir()
	f := putback.Files{Write: []string{top}}
	var err error
	for n := range 20 {
		dir := filepath.Join(top, "modules", strconv.Itoa(n))
		head, message, setting := filepath.Join(dir, "HEAD"), filepath.Join(dir, "X_EDITMSG"), filepath.Join(top, "setting"+strconv.Itoa(n))
		err = errors.Join(err, os.MkdirAll(dir, 0o755), os.WriteFile(head, []byte("ref: x\n"), 0o600))
		for _, large := range []string{message, setting} {
			err = errors.Join(err, os.WriteFile(large, nil, 0o600), os.Truncate(large, 15<<20))
		}
		f.Guards, f.ReadOnly = append(f.Guards, putback.Guard{Dir: dir, But: []string{"HEAD", "*_EDITMSG"}}), append(f.ReadOnly, setting)
	}
	if err != nil {
		t.Fatal(err)
	}
	inUse := func() uint64 {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		return now.HeapAlloc >> 20
	}
	before := inUse()
	kept, err := f.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if got := inUse() - before; got > 350 {
		t.Errorf("%d MB are kept, want at most 350", got)
	}
	last := filepath.Join(top, "modules", "19", "HEAD")
	if err := errors.Join(os.Remove(last), os.Symlink("/", last), kept.PutBack(func([]string) {})); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(last); string(text) != "ref: x\n" {
		t.Errorf("HEAD is %q, %v", text, err)
	}
}

// A sparse file takes no disk, and git would read all of it at each start.
func TestARefWithoutEndIsMovedAside(t *testing.T) {
	top := t.TempDir()
	head, main := filepath.Join(top, ".git", "HEAD"), filepath.Join(top, ".git", "refs", "heads", "main")
	const text = "ref: refs/heads/main\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(main), 0o755), os.WriteFile(head, []byte(text), 0o600), os.WriteFile(main, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	kept, err := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: filepath.Join(top, ".git"), But: []string{"HEAD", "refs"}}}}.Keep()
	if err := errors.Join(err, os.Truncate(head, 1<<40), os.Truncate(main, 1<<40)); err != nil {
		t.Fatal(err)
	}
	var told []string
	if err := kept.PutBack(func(names []string) { told = append(told, names...) }); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(head); err != nil || string(now) != text || len(told) != 2 {
		t.Errorf("HEAD is %.80q, %v, and told is %q", now, err, told)
	}
	if _, err := os.Stat(main); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the ref is still there: %v", err)
	}
}
