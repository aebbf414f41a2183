package confine_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/confine"
)

// Where kept caches cannot be taken, later proofs begin with what the base left.
func TestCachesThatCannotBeTaken(t *testing.T) {
	dir, kept := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	sb := confine.Caching(dir)
	if err := sb.TakeCaches(t.Context(), filepath.Join(dir, "nowhere")); err == nil {
		t.Error("TakeCaches = nil, want an error")
	}
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "cache", "go-build"), 0o755), os.WriteFile(filepath.Join(dir, "cache", "module"), []byte("x"), 0o644))
	if err := errors.Join(err, sb.LeaveBase(), sb.KeepCaches(kept)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(kept, "module")); err != nil {
		t.Errorf("the base's caches are not kept: %v", err)
	}
	if _, err := os.Stat(filepath.Join(kept, "go-build", "testexpire.txt")); err != nil {
		t.Errorf("Go would not run the tests again: %v", err)
	}
}
