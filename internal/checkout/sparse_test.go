package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
)

// Code of the change can leave a sparse file with a test's name, which takes days to read.
func TestSparseTestsAreNotRead(t *testing.T) {
	trusted, commits := repository(t, "echo 1 >one && commit && echo 2 >two && commit")
	p := proving{
		trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, check: "test -e one", setup: "truncate -s 4T zz_test.py",
		env: os.Environ(), kept: checkout.Kept{}, runs: filepath.Join(t.TempDir(), "runs"),
	}
	if _, outcome := p.prove(t); outcome.Head == "" {
		t.Errorf("no outcome: %+v", outcome)
	}
}
