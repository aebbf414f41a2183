package proof_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// A proof is made of a commit without what it changed of protected files.
func TestProveWithoutProtected(t *testing.T) {
	l, run := &lab{says: []journal.CheckEnded{green("test")}}, asked(green("test"))
	p := l.prover()
	p.Restore = func(context.Context, journal.Run, string) (string, []string, error) {
		return "c1-restored", []string{"CODEOWNERS"}, nil
	}
	if err := p.Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	l.want(t, "c1-restored")
	want := journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true, Why: "as it was", Restored: []string{"CODEOWNERS"}}
	if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
		t.Errorf("Prove (-want +got):\n%s", diff)
	}
	broken := errors.New("no space left")
	p.Restore = func(context.Context, journal.Run, string) (string, []string, error) { return "", nil, broken }
	if err := p.Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); !errors.Is(err, broken) {
		t.Errorf("Prove = %v, want %v", err, broken)
	}
}
