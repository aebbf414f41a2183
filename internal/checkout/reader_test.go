package checkout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/process"
)

// A file that is not there is one thing, and a git that cannot tell another: what
// defines the checks would be taken for absent, and not be put back.
func TestAGitThatFailsIsNoMissingFile(t *testing.T) {
	dir := t.TempDir()
	script := "git init -q . && git config user.name a && git config user.email a@b && echo test >Makefile && git add . && git commit -qm one && git rev-parse HEAD"
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "cd "+dir+" && "+script).Output()
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.TrimSpace(string(out))
	tool := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	trusted, err := tool.Open(filepath.Join(dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		commit, name, want string
		fails              bool
	}{
		{commit, "Makefile", "test\n", false},
		{commit, "package.json", "", false},
		{strings.Repeat("0", 39) + "1", "Makefile", "", true},
	} {
		text, err := checkout.AtCommit(t.Context(), trusted, c.commit, c.name)
		if string(text) != c.want || (err != nil) != c.fails {
			t.Errorf("%s of %.7s is %q, %v; want %q, and an error: %t", c.name, c.commit, text, err, c.want, c.fails)
		}
	}
}
