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

func TestAddChecks(t *testing.T) {
	checks := policy.UniqueChecks([]policy.Check{{Command: "make", Hint: "one"}})
	got := policy.AddChecks(checks, []string{"make", "lint", "lint"}, policy.Duration(time.Minute))
	want := []policy.Check{
		{Name: "make", Command: "make", Hint: "one"},
		{Name: "lint", Command: "lint", Timeout: policy.Duration(time.Minute)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("AddChecks (-want +got):\n%s", diff)
	}
}
