package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/entry/eval"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// The hidden tests are those that pass with the commit itself; where no test has a name, the check counts.
func TestMissed(t *testing.T) {
	named := func(passed bool, names ...string) []checkout.Answer {
		return []checkout.Answer{{Check: "test", Passed: passed, Passing: names}}
	}
	for name, c := range map[string]struct {
		gold, work []checkout.Answer
		want       []string
	}{
		"all pass":               {gold: named(true, "a", "b"), work: named(true, "a", "b")},
		"one fails":              {gold: named(true, "a", "b"), work: named(false, "a"), want: []string{"b"}},
		"one does not run":       {gold: named(true, "a", "b"), work: named(true, "a"), want: []string{"b"}},
		"red with both":          {gold: named(false, "a"), work: named(false, "a")},
		"no names, red":          {gold: named(true), work: named(false), want: []string{"check test"}},
		"no names, green":        {gold: named(true), work: named(true)},
		"no names, red for both": {gold: named(false), work: named(false)},
		"no answer":              {gold: named(true), want: []string{"check test"}},
	} {
		if diff := cmp.Diff(c.want, eval.Missed(c.gold, c.work)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A task counts once for each thing that it shows; one that could not be tried, for
// none.
func TestAdd(t *testing.T) {
	rows := []eval.Row{
		{ID: "a", Proven: true, Hidden: true, CostUSD: 1, Seconds: 60},
		{ID: "b", Proven: true, Untested: 2, False: true, Result: "proven"},
		{ID: "c", Hidden: true, Held: true, Result: "no_new_failing_test"},
		{ID: "d", Error: "unusable: no check passes"},
		{ID: "e", Aside: "its hidden tests pass at the base", Seconds: 2},
	}
	got := eval.Add(6, rows)
	want := eval.Sum{Tasks: 6, Aside: 1, Tried: 3, Proven: 2, Hidden: 2, Solved: 1, False: 1, Held: 1, Untested: 1, CostUSD: 1, Seconds: 62, Rows: rows}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Add (-want +got):\n%s", diff)
	}
	for _, line := range []string{"a     yes ", "fail: FALSE POSITIVE", "no: no_new_failing_test", "pass: false negative", "not tried: unusable: no check passes", "e     skipped: its hidden tests pass at the base  -  ", "\n3 of 6 tasks tried, 1 skipped: "} {
		if !strings.Contains(got.Text(), line) {
			t.Errorf("the table has no %q:\n%s", line, got.Text())
		}
	}
}

// A row that was cut off is tried again, and spoils none of those behind it.
func TestRowsWithACutOne(t *testing.T) {
	rows := eval.Rows([]byte("{\"id\": \"a\"}\n{\"id\": \"b\n\n{\"id\": \"c\"}\n"))
	if diff := cmp.Diff([]eval.Row{{ID: "a"}, {ID: "c"}}, rows); diff != "" {
		t.Errorf("Rows (-want +got):\n%s", diff)
	}
}
