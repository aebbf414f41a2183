package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

const finished = `{"userStories": [{"id": "US-001", "title": "Greet", "passes": true}]}`

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
				must.Do(t, os.MkdirAll(path, 0o755))
			default:
				write(t, path, c.prd)
			}
			if _, err := workspace.ReadLoop(workspace.Memory{Tree: dir}); err == nil || !strings.HasPrefix(err.Error(), c.what) || fault.Hint(err) == "" {
				t.Errorf("ReadLoop = %v, want %q and a hint", err, c.what)
			}
		})
	}
}
