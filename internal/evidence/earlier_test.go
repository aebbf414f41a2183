package evidence_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/journal"
)

// The claims about a story's own commit must be true for that commit, not for the newest.
func TestDifferencesOfAnEarlierCommit(t *testing.T) {
	base := journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true}
	here := journal.CheckEnded{Where: journal.AtProof, Name: "test", Command: "make test", Passed: true}
	red := here
	red.Passed, red.Exit = false, 1
	grade := journal.StoryGraded{Story: "US-001", Grade: journal.RedToGreen}
	newest := []journal.Event{here, journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true}, grade}
	for name, c := range map[string]struct {
		own  []journal.Event
		want []string
	}{
		"as it was said": {[]journal.Event{here, journal.ProofEnded{Commit: "c0", Tree: "t0", Passed: true}}, nil},
		"never made":     {nil, []string{"the proof of US-001 could not be repeated"}},
		"it fails":       {[]journal.Event{red, journal.ProofEnded{Commit: "c0", Tree: "t0", Why: "test failed (exit 1)"}}, []string{"the proof of US-001: fails; the file says: passes", "the proof of US-001: test failed (exit 1)", "at the commit of US-001 check test: fails (passed tests: 0, failed: none); the file says: passes (passed tests: 0, failed: none)"}},
		"another check":  {[]journal.Event{journal.ProofEnded{Commit: "c0", Tree: "t0", Passed: true}}, []string{"at the commit of US-001 check test was not run"}},
		"it fails there": {[]journal.Event{red, journal.ProofEnded{Commit: "c0", Tree: "t0", Passed: true}}, []string{"at the commit of US-001 check test: fails (passed tests: 0, failed: none); the file says: passes (passed tests: 0, failed: none)"}},
	} {
		e := of(t)
		e.Stories[0].Passes = true
		e.Stories[0].Proof = &evidence.Proof{Commit: "c0", Tree: "t0", Passed: true, Checks: e.Proof.Checks}
		events := append([]journal.Event{base, journal.BaselineEnded{Usable: true}}, c.own...)
		if diff := cmp.Diff(c.want, e.Differences(anew(t, e, append(events, newest...)...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
