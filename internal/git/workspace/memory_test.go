package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

var shop = plan.Plan{Project: "shop", UserStories: []plan.Story{
	{ID: "US-001", Title: "cart", AcceptanceCriteria: []string{"adds"}, Priority: 1},
}}

func TestMemoryIsReadBack(t *testing.T) {
	tree := t.TempDir()
	m := workspace.Memory{Tree: tree}
	must.Do(t, m.Write(shop, []byte("begun\n")))
	got := must.Get(m.ReadPlan())(t)
	if diff := cmp.Diff(shop, got, cmpopts.EquateEmpty()); diff != "" || !m.HasPlan(shop) {
		t.Errorf("Read (-written +read):\n%s", diff)
	}
	progress := filepath.Join(tree, "ralph", "progress.txt")
	if got := read(t, progress); got != "begun\n" {
		t.Errorf("progress = %q", got)
	}

	// The second write keeps the agent's log and replaces the plan.
	write(t, progress, "learned\n")
	write(t, filepath.Join(tree, "ralph", "prd.json"), "scribbles")
	must.Do(t, m.Write(shop, []byte("begun\n")))
	if got := read(t, progress); got != "learned\n" {
		t.Errorf("progress = %q, want what the agent wrote", got)
	}
	if _, err := m.ReadPlan(); err != nil {
		t.Errorf("Read after the plan was put back = %v", err)
	}
}

// baits are what an agent can put in the place of its memory, as shell scripts in its tree. Outside of it are a canary
// ($1) and a plan ($2), which must not be read.
var baits = map[string]struct {
	script string
	why    string // in the error of ReadPlan; empty: any error
}{
	"the folder is a link out":         {script: `ln -s "$(dirname "$2")" ralph`},
	"the folder is a file":             {script: "touch ralph"},
	"the plan is a link out":           {script: `mkdir ralph; ln -s "$2" ralph/prd.json`, why: "plain file"},
	"the plan is a link within":        {script: "mkdir ralph; touch other; ln -s ../other ralph/prd.json", why: "plain file"},
	"the log is a link to nothing yet": {script: `mkdir ralph; ln -s "$(dirname "$1")/new" ralph/progress.txt`},
	"the plan is a pipe":               {script: "mkdir ralph; mkfifo ralph/prd.json", why: "plain file"},
	"the plan is a folder":             {script: "mkdir -p ralph/prd.json/deep; touch ralph/prd.json/deep/file", why: "plain file"},
	"the plan is sparse and endless":   {script: "mkdir ralph; truncate -s 1T ralph/prd.json", why: "larger than 1 MiB"},
	"the plan is gone":                 {script: "true"},
}

// An agent can put anything there: nothing outside its tree is read or written,
// nothing hangs, and the next memory is a memory again.
func TestMemoryStaysInTheTree(t *testing.T) {
	for name, bait := range baits {
		t.Run(name, func(t *testing.T) {
			tree, outside, alien := t.TempDir(), canary(t), filepath.Join(t.TempDir(), "prd.json")
			data := must.Get(shop.Marshal())(t)
			write(t, alien, string(data))
			leave := exec.CommandContext(t.Context(), "sh", "-ec", bait.script, "sh", outside, alien)
			leave.Dir = tree
			if out, err := leave.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}

			m := workspace.Memory{Tree: tree}
			if p, err := m.ReadPlan(); err == nil || !strings.Contains(err.Error(), bait.why) || strings.Contains(err.Error(), song) {
				t.Errorf("Read = %+v, %v; want an error with %q", p, err, bait.why)
			}
			mine := plan.Plan{Project: "mine", UserStories: shop.UserStories}
			if err := m.Write(mine, []byte("begun\n")); err != nil {
				t.Fatalf("Write = %v", err)
			}
			if got, err := m.ReadPlan(); err != nil || got.Project != "mine" {
				t.Errorf("Read after Write = %q, %v", got.Project, err)
			}
			if info, err := os.Lstat(filepath.Join(tree, "ralph", "prd.json")); err != nil || !info.Mode().IsRegular() {
				t.Errorf("the plan is no plain file after Write: %v, %v", info, err)
			}
			sings(t, outside)
			if got := read(t, alien); got != string(data) {
				t.Errorf("the alien plan was written to:\n%s", got)
			}
			if others, _ := os.ReadDir(filepath.Dir(alien)); len(others) != 1 {
				t.Errorf("the alien folder holds %v", others)
			}
		})
	}
}

// fullAt is the size at which files are full: `go test` itself writes a smaller one.
const fullAt = 8 << 20

// onFullDisk does a write that does not fit.
func onFullDisk(t *testing.T, write func() error) {
	t.Helper()
	var before unix.Rlimit
	must.Do(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	must.Do(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: fullAt, Max: before.Max}))
	failed := write()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil || failed == nil {
		t.Fatalf("%v, and the write ended with %v", err, failed)
	}
}

// A file that cannot be replaced stays as it is.
func TestMemoryOnAFullDisk(t *testing.T) {
	memory := workspace.Memory{Tree: t.TempDir()}
	must.Do(t, memory.WriteLog("what a person wrote"))
	onFullDisk(t, func() error { return memory.WriteLog(strings.Repeat("what does not fit\n", fullAt/10)) })
	if log, err := memory.Log(); err != nil || log != "what a person wrote" {
		t.Errorf("the log is %q, %v", log, err)
	}
}
