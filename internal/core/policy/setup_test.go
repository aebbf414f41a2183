package policy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

func TestSetups(t *testing.T) {
	got := policy.NewSetup([]string{"npm ci", "make gen", "npm ci"}, policy.Duration(time.Minute))
	var want []policy.Check
	for _, named := range [][2]string{{"npm ci", "npm ci"}, {"make gen", "make gen"}, {"npm ci (2)", "npm ci"}} {
		want = append(want, policy.Check{Name: named[0], Command: named[1], Timeout: policy.Duration(time.Minute)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Setups (-want +got):\n%s", diff)
	}
	if none := policy.NewSetup(nil, 0); len(none) != 0 {
		t.Errorf("Setups(nil) = %v", none)
	}
}

func TestUnique(t *testing.T) {
	got := policy.UniqueChecks([]policy.Check{
		{Name: "one", Command: "make", FailAction: policy.Append},
		{Command: "make", FailAction: policy.Replace, Hint: "look"},
		{Command: "lint"},
		{Command: "make", FailAction: policy.Append},
	})
	want := []policy.Check{
		{Name: "make", Command: "make", FailAction: policy.Append},
		{Name: "make (2)", Command: "make", FailAction: policy.Replace, Hint: "look"},
		{Name: "lint", Command: "lint"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Unique (-want +got):\n%s", diff)
	}
}

func TestWith(t *testing.T) {
	long := "a command that is far longer than any table has room for, "
	checks := policy.UniqueChecks([]policy.Check{{Command: long, Hint: "one"}, {Command: long, Hint: "two"}, {Command: "make"}})
	got := policy.AddChecks(checks, []string{"make", long + "too", "lint", "lint"}, policy.Duration(time.Minute))
	short := "a command that is far longer than any ta…"
	want := []policy.Check{
		{Name: short, Command: long, Hint: "one"},
		{Name: short + " (2)", Command: long, Hint: "two"},
		{Name: "make", Command: "make"},
		{Name: short + " (3)", Command: long + "too", Timeout: policy.Duration(time.Minute)},
		{Name: "lint", Command: "lint", Timeout: policy.Duration(time.Minute)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("With (-want +got):\n%s", diff)
	}
	if len(checks) != 3 {
		t.Errorf("With changed the checks it was given: %v", checks)
	}
}
