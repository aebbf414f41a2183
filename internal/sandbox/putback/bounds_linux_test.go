package putback_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
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
