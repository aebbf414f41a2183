package check_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
)

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

const points = `echo 1..3; echo ok 1 - a; echo not ok 2 - c; echo "not ok 3 - $PWD/b"; `

// What the output says of tests is on record, and all of it in a file.
func TestTestsByName(t *testing.T) {
	l := newLab(t)
	l.hand.Folder = "kept"
	got := l.do(t, policy.Check{Name: "test", Command: points + "exit 1"})[0]
	all := "passed a\nfailed c\nfailed b\n"
	want := &journal.Tests{
		Runner: "tap", Passed: 1, Failed: 2, Red: []string{"b", "c"}, Digest: sum("b\nc\n"),
		All: journal.Attachment{Path: strings.TrimSuffix(got.Log, ".log") + ".tests", Digest: sum(all), Size: int64(len(all))},
	}
	if diff := cmp.Diff(want, got.Tests); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	kept := l.log(t, strings.TrimPrefix(got.Tests.All.Path, "kept/"))
	if diff := cmp.Diff(all, kept); diff != "" {
		t.Errorf("all tests (-want +got):\n%s", diff)
	}
	if tally.Parse(kept).Of("c") != tally.Failed {
		t.Errorf("the file of all tests cannot be read: %q", kept)
	}
}

// An output that claims something changes nothing about how a check ended.
func TestClaimsOfAnOutput(t *testing.T) {
	l := newLab(t)
	for command, passed := range map[string]bool{
		"echo 1..1; echo ok 1 - a; exit 1": false,
		"echo 1..1; echo not ok 1 - a":     true,
		"echo nothing":                     true,
	} {
		if got := l.do(t, policy.Check{Name: "test", Command: command})[0]; got.Passed != passed {
			t.Errorf("%s: passed %v, want %v", command, got.Passed, passed)
		}
	}
	if got := l.do(t, policy.Check{Name: "test", Command: "echo nothing"})[0]; got.Tests != nil {
		t.Errorf("tests %+v of an output that tells of none", got.Tests)
	}
}

// How tests ended that were asked for is on record, those that passed too.
func TestAskedByName(t *testing.T) {
	l := newLab(t)
	job := jobOf(l, policy.Check{Name: "test", Command: "echo 1..2; echo ok 1 - a; echo not ok 2 - b"})
	job.Ask = func(check string) []string { return []string{"a", "b", "of " + check} }
	err := l.hand.Do(t.Context(), job, func(event journal.Event) {
		want := map[string]tally.Outcome{"a": tally.Passed, "b": tally.Failed, "of test": tally.Absent}
		if diff := cmp.Diff(want, event.(journal.CheckEnded).Tests.Asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The journal holds 200 names, and says that there are more.
func TestManyNames(t *testing.T) {
	l := newLab(t)
	got := l.do(t, policy.Check{Name: "test", Command: `echo 1..301; i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "not ok $i - t$i"; done; exit 1`})[0].Tests
	if got == nil || len(got.Red) != 200 || len(got.Broken) != 0 || !got.Cut || got.Failed != 300 || got.Digest == "" {
		t.Errorf("tests %+v", got)
	}
}

// Only what is asked for is run, and the logs of a second time lie beside those
// of the first.
func TestOnly(t *testing.T) {
	l := newLab(t)
	checks := []policy.Check{{Name: "lint", Command: "true"}, {Name: "test", Command: "echo 1..1; echo ok 1 - a"}}
	for second, want := range map[bool]string{false: "guardrail_3_echo_1_1_echo_ok_1_a", true: "guardrail_3_echo_1_1_echo_ok_1_a-again"} {
		job := jobOf(l, checks...)
		job.Only, job.Second = func(name string) bool { return name == "test" }, second
		var ended []journal.CheckEnded
		if err := l.hand.Do(t.Context(), job, func(event journal.Event) { ended = append(ended, event.(journal.CheckEnded)) }); err != nil {
			t.Fatal(err)
		}
		if len(ended) != 1 || ended[0].Name != "test" || path.Base(ended[0].Log) != want+".log" || path.Base(ended[0].Tests.All.Path) != want+".tests" {
			t.Errorf("second %v: ended %+v, want one whose log is %s", second, ended, want)
		}
	}
}

// A disk that is full keeps no tests, and no check counts that is not kept.
func TestTestsThatCannotBeKept(t *testing.T) {
	l := newLab(t)
	full, create := errors.New("no space left"), l.hand.Log
	l.hand.Log = func(name string) (io.WriteCloser, error) {
		if strings.HasSuffix(name, ".tests") {
			return nil, full
		}
		return create(name)
	}
	err := l.hand.Do(t.Context(), jobOf(l, policy.Check{Name: "test", Command: points}), func(journal.Event) { t.Error("an event") })
	if !errors.Is(err, full) {
		t.Errorf("Do = %v, want %v", err, full)
	}
}

func jobOf(l lab, checks ...policy.Check) check.Job {
	return check.Job{Where: journal.AtProof, Dir: l.tree, Commit: "c1", Label: "3", Checks: checks}
}
