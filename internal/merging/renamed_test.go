package merging_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/merging"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
)

// A merge brings no change of the work to a file that others moved to a protected place: people merge that.
func TestRenamedToAProtectedPlace(t *testing.T) {
	dir := t.TempDir()
	call := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(name, text string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		call("add", "--all")
		call("commit", "-q", "-m", "change "+name)
		return call("rev-parse", "HEAD")
	}
	long := strings.Repeat("a step\n", 20)
	call("init", "-q", "-b", "main")
	base := commit("build.yml", long)
	for _, branch := range []string{"work", "clashing", "elsewhere"} {
		call("branch", branch)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".github"), 0o755); err != nil {
		t.Fatal(err)
	}
	call("mv", "build.yml", ".github/build.yml")
	theirs := commit("other", "theirs\n")
	call("switch", "-q", "elsewhere")
	elsewhere := commit("more", "ours\n")
	call("switch", "-q", "work")
	work := commit("build.yml", long+"an evil step\n")
	call("switch", "-q", "clashing")
	commit("build.yml", long+"an evil step\n")
	clashing := commit("other", "ours\n")
	call("switch", "-q", "main")

	g := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	place, err := g.Inspect(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := g.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "trusted.git"))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []journal.Line{journal.OfBase, journal.OfBranch} {
		for head, want := range map[string][]string{work: {".github/build.yml"}, clashing: {"other", ".github/build.yml"}, elsewhere: nil} {
			if head == clashing && of == journal.OfBranch {
				want = want[:1] // people see to all of it
			}
			run := journal.Run{Head: head, Base: base, BaseRef: "main", Branch: "work"}
			run.Policy = policy.Policy{Protect: policy.ProtectedFiles(), Limits: policy.Limits{Iterations: 9}}
			got, err := merging.Join(t.Context(), trusted, run, journal.Joined{Of: of, With: theirs}, base)
			if err != nil || !slices.Equal(got.Conflicts, want) || (got.To == head) != (want != nil) {
				t.Errorf("%s: %+v, %v, want conflicts in %q", of, got, err, want)
			}
		}
	}
}
