package putback_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
)

// Those inside can fill the disk: the room to put back what they emptied is taken before.
func TestRoomIsTaken(t *testing.T) {
	const size = 1 << 20
	top := t.TempDir()
	file := filepath.Join(top, "config")
	if err := os.WriteFile(file, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	kept, err := putback.Files{Write: []string{top}, ReadOnly: []string{file}}.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if room := kept.Room(); room < size {
		t.Errorf("%d bytes are taken, of %d", room, size)
	}
	err = errors.Join(os.Truncate(file, 0), kept.PutBack(nil))
	if info, failed := os.Stat(file); err != nil || failed != nil || info.Size() != size {
		t.Errorf("the file is %v: %v", info, errors.Join(err, failed))
	}
	if left, err := os.ReadDir(top); err != nil || len(left) != 1 {
		t.Errorf("there is %v: %v", left, err)
	}
}
