package confine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// The attack at the start tries to read the project of an agent with a tree of its own,
// also where another sandboxed command may work in the project.
func TestTheProjectIsAttacked(t *testing.T) {
	project := t.TempDir()
	found := 0
	look := func(ctx context.Context, c process.Command) (process.Result, error) {
		laid, err := filepath.Glob(filepath.Join(project, ".ralph-canary-*"))
		if err != nil {
			t.Error(err)
		}
		found += len(laid)
		return nothing(ctx, c)
	}
	sb, err := confine.Start(t.Context(), confine.Options{
		Level: sandbox.Namespace, Exec: look, Temp: t.TempDir(), Home: t.TempDir(), Private: []string{project}, Above: []string{project},
	})
	if sb != nil && err == nil {
		t.Fatal("it stands")
	}
	if found == 0 {
		t.Error("no canary lies in the project when the attack begins")
	}
	if left, err := os.ReadDir(project); err != nil || len(left) > 0 {
		t.Errorf("the attack left %v, %v", left, err)
	}
}
