package checkout_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

func counting(t *testing.T, trusted *git.Trusted) (*git.Trusted, *int) {
	t.Helper()
	tool, calls := trusted.Git(), 0
	ask := tool.Run
	tool.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		calls++
		return ask(ctx, c)
	}
	counted, err := tool.Open(trusted.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return counted, &calls
}

func repository(t *testing.T, script string) (trusted *git.Trusted, commits []string) {
	t.Helper()
	dir := t.TempDir()
	const start = "commit() { git add . && git commit -qm one && git rev-parse HEAD; }; git init -q . && git config user.name a && git config user.email a@b && "
	command := exec.CommandContext(t.Context(), "sh", "-c", start+script)
	command.Dir = dir
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	tool := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	if trusted, err = tool.Open(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	return trusted, strings.Fields(string(out))
}
