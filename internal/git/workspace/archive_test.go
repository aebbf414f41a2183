package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

const finished = `{"userStories": [{"id": "US-001", "title": "Greet", "passes": true}]}`

// An archived loop has the same bytes, and its folder does not replace one of the same name.
func TestPutAway(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"ralph-archive/2026-01-31-x", "ralph-archive/2026-01-31-x-2"} {
		write(t, filepath.Join(dir, "ralph/prd.json"), finished)
		write(t, filepath.Join(dir, "ralph/progress.txt"), "# Log\nStarted: 2026-01-30\r\n")
		write(t, filepath.Join(dir, "ralph/prompt.md"), "mine")
		loop, err := workspace.ReadLoop(workspace.Memory{Tree: dir})
		if err != nil {
			t.Fatal(err)
		}
		if loop.Started() != "2026-01-30" || !loop.Plan.Done() {
			t.Errorf("ReadLoop = %+v", loop)
		}
		got, err := loop.Archive("2026-01-31-x", []byte("sum"), sheets("ralph/prd.json", "{}", "ralph/progress.txt", "fresh"))
		if got != folder || err != nil {
			t.Errorf("PutAway = %q, %v; want %q", got, err, folder)
		}
		all := read(t, filepath.Join(dir, folder, "prd.json")) + read(t, filepath.Join(dir, folder, "progress.txt")) + read(t, filepath.Join(dir, folder, "summary.md"))
		if want := finished + "# Log\nStarted: 2026-01-30\r\nsum"; all != want {
			t.Errorf("the archive holds %q, want %q", all, want)
		}
		left := read(t, filepath.Join(dir, "ralph/prd.json")) + read(t, filepath.Join(dir, "ralph/progress.txt")) + read(t, filepath.Join(dir, "ralph/prompt.md"))
		if left != "{}freshmine" {
			t.Errorf("ralph/ holds %q", left)
		}
	}
}

func TestReadLoopFaults(t *testing.T) {
	for name, c := range map[string]struct{ prd, what string }{
		"missing":  {"", "nothing to archive: there is no ralph/prd.json"},
		"no JSON":  {"{", "the PRD cannot be read: "},
		"template": {`{"userStories": [{"id": "US-001", "title": " "}]}`, "nothing to archive: ralph/prd.json has no stories yet"},
		"empty":    {`{}`, "nothing to archive: ralph/prd.json has no stories yet"},
		"a folder": {"/", "cannot read ralph/prd.json: it is not a plain file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			switch path := filepath.Join(dir, "ralph/prd.json"); c.prd {
			case "":
			case "/":
				if err := os.MkdirAll(path, 0o755); err != nil {
					t.Fatal(err)
				}
			default:
				write(t, path, c.prd)
			}
			if _, err := workspace.ReadLoop(workspace.Memory{Tree: dir}); err == nil || !strings.HasPrefix(err.Error(), c.what) || fault.Hint(err) == "" {
				t.Errorf("ReadLoop = %v, want %q and a hint", err, c.what)
			}
		})
	}
}
