package check_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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
	job := jobOf(l, nil, policy.Check{Name: "test", Command: "echo 1..2; echo ok 1 - a; echo not ok 2 - b"})
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

// A check is run again where that is asked for, and it is said.
func TestAgain(t *testing.T) {
	held := func(e journal.CheckEnded) bool { return !e.Passed }
	const flaky = "if test -e seen; then exit 0; fi; touch seen; echo 1..1; echo not ok 1 - a; exit 3"
	for name, test := range map[string]struct {
		command string
		again   func(journal.CheckEnded) bool
		want    journal.CheckEnded
		first   string // of the first run
		logs    int
	}{
		"green":       {"true", held, journal.CheckEnded{Passed: true}, "", 1},
		"flaky":       {flaky, held, journal.CheckEnded{Passed: true, Flaky: true}, "3 [a]", 2},
		"still red":   {"exit 4", held, journal.CheckEnded{Exit: 4}, "4 []", 2},
		"not asked":   {flaky, nil, journal.CheckEnded{Exit: 3}, "", 1},
		"cannot run":  {"no-such-program-here", held, journal.CheckEnded{Exit: 127, CannotRun: true}, "", 1},
		"none to run": {"if test -e seen; then exit 127; fi; touch seen; exit 1", held, journal.CheckEnded{Exit: 127, CannotRun: true}, "1 []", 2},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			began := 0
			l.hand.Began = func(policy.Check) { began++ }
			got := l.doJob(t, test.again, policy.Check{Name: "test", Command: test.command})
			first := ""
			if got.First != nil {
				var red []string
				if got.First.Tests != nil {
					red = got.First.Tests.Red
				}
				first = fmt.Sprint(got.First.Exit, " ", red)
				if got.First.Log == got.Log || got.First.Digest != sum(l.log(t, got.First.Log)) {
					t.Errorf("the log of the first run is %s, digest %s", got.First.Log, got.First.Digest)
				}
			}
			if first != test.first || began != test.logs {
				t.Errorf("first %q, begun %d times; want %q, %d", first, began, test.first, test.logs)
			}
			if got.Passed != test.want.Passed || got.Flaky != test.want.Flaky || got.Exit != test.want.Exit || got.CannotRun != test.want.CannotRun {
				t.Errorf("ended %+v, want %+v", got, test.want)
			}
		})
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
	err := l.hand.Do(t.Context(), jobOf(l, nil, policy.Check{Name: "test", Command: points}), func(journal.Event) { t.Error("an event") })
	if !errors.Is(err, full) {
		t.Errorf("Do = %v, want %v", err, full)
	}
}

func jobOf(l lab, again func(journal.CheckEnded) bool, checks ...policy.Check) check.Job {
	return check.Job{Where: journal.AtProof, Dir: l.tree, Commit: "c1", Label: "3", Checks: checks, Again: again}
}

// doJob runs one check, and again where again says so.
func (l lab) doJob(t *testing.T, again func(journal.CheckEnded) bool, one policy.Check) journal.CheckEnded {
	t.Helper()
	var ended []journal.CheckEnded
	err := l.hand.Do(t.Context(), jobOf(l, again, one), func(event journal.Event) { ended = append(ended, event.(journal.CheckEnded)) })
	if err != nil || len(ended) != 1 {
		t.Fatalf("Do = %v with %v", err, ended)
	}
	return ended[0]
}
