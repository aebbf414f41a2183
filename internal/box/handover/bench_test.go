package handover_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// BenchmarkTake takes ten commits of a thousand files each, in a repository with
// a hundred thousand files, and compares with git fetch.
func BenchmarkTake(b *testing.B) {
	dir := b.TempDir()
	run := func(in, stdin string, args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir, cmd.Stdin = filepath.Join(dir, in), strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	commit := func(to *strings.Builder, ref, message string, first, files int) {
		fmt.Fprintf(to, "commit %s\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata %d\n%s\n", ref, len(message), message)
		if ref == "refs/heads/work" && first == 0 {
			fmt.Fprintf(to, "from %s^0\n", ref)
		}
		for i := first; i < first+files; i++ {
			fmt.Fprintf(to, "M 100644 inline d%02d/e%02d/f%d.txt\ndata 1792\n", i%100, i/100%100, i)
			for range 256 {
				fmt.Fprintf(to, "%06x\n", random.Uint32()&0xffffff)
			}
			to.WriteString("\n")
		}
	}
	var base, work strings.Builder
	commit(&base, "refs/heads/main", "begin", 0, 100_000)
	for i := range 10 {
		commit(&work, "refs/heads/work", "feat: more", 1000*i, 1000)
	}
	run("", "", "init", "-q", "-b", "main", "origin")
	run("origin", base.String(), "fast-import", "--quiet")
	g := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: b.TempDir()}
	origin := remote.Repository{URL: filepath.Join(dir, "origin")}
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprint(i)
		trusted, err := origin.Clone(b.Context(), g, filepath.Join(dir, name+".git"), remote.Branches{Base: "main"})
		if err != nil {
			b.Fatal(err)
		}
		began := must.Get(trusted.Ask(b.Context(), "rev-parse", "refs/heads/main"))(b)
		tree, err := trusted.Clone(b.Context(), git.CloneSpec{Dir: filepath.Join(dir, name), Branch: "work", SHA: began})
		if err != nil {
			b.Fatal(err)
		}
		run(name, work.String(), "fast-import", "--quiet")
		run(name, "", "reset", "-q", "--hard")
		run("", "", "clone", "-q", "--bare", "--shared", name+".git", name+"-floor.git")
		at := time.Now()
		run(name+"-floor.git", "", "fetch", "-q", "../"+name, "work")
		floor := time.Since(at)
		at = time.Now()
		taken, err := handover.Take(b.Context(), trusted, tree, nil, handover.Terms{Base: began, Last: began})
		if err != nil || len(taken.Commits) != 10 {
			b.Fatalf("%d commits, %v, refused %v", len(taken.Commits), err, taken.Refused)
		}
		b.ReportMetric(time.Since(at).Seconds()/floor.Seconds(), "x-fetch")
		b.ReportMetric(floor.Seconds(), "fetch-s")
	}
	b.ReportMetric(0, "ns/op")
}
