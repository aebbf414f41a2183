package confine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// No other user of a laptop goes into the folder of the sandbox.
func TestTheFolderOfASandboxIsPrivate(t *testing.T) {
	temp, seen := t.TempDir(), 0
	look := func(ctx context.Context, c process.Command) (process.Result, error) {
		inside, _ := filepath.Glob(filepath.Join(temp, "ralph-inside-*")) // it is well formed
		for _, dir := range inside {
			seen++
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", dir, info, err)
			}
		}
		return nothing(ctx, c)
	}
	sb, err := confine.Start(t.Context(), confine.Options{Level: sandbox.Namespace, Exec: look, Temp: temp, Home: t.TempDir()})
	if sb != nil && err == nil || seen == 0 {
		t.Fatalf("it stands, or no folder was seen: %d", seen)
	}
}
