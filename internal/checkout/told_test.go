package checkout_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// A record of tests that is missing, or that an agent has changed, is not a record without tests.
func TestToldNeedsTheRecord(t *testing.T) {
	const list = "passed one\n"
	named := journal.CheckEnded{Name: "test", Tests: &journal.Tests{Passed: 1, All: journal.Attachment{
		Path: ".ralph/list", Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(list))),
	}}}
	for name, c := range map[string]struct {
		check  journal.CheckEnded
		record string
		inJob  bool
		want   string
	}{
		"as it was":          {named, list, false, ""},
		"names no record":    {journal.CheckEnded{Name: "test", Tests: &journal.Tests{Passed: 1}}, "", false, ""},
		"changed":            {named, list + "x\n", false, "the record of the tests of test cannot be read: read list: it was changed"},
		"missing":            {named, "", false, "the record of the tests of test cannot be read: read list: statat list: no such file or directory"},
		"of another machine": {named, "", true, ""},
	} {
		dir := t.TempDir()
		if c.record != "" {
			if err := os.WriteFile(filepath.Join(dir, "list"), []byte(c.record), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		clean := checkout.Clean{Logs: workspace.Folder{Path: dir}, InJob: c.inJob}
		told, err := clean.Prover(nil).Tests.Told(c.check)
		if err != nil && err.Error() != c.want || err == nil && c.want != "" {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := told.Of("one"); (got == tally.Passed) != (name == "as it was") {
			t.Errorf("%s: the test %s", name, got)
		}
	}
}
