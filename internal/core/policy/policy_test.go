package policy_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// stopReasons has the status and the exit codes of each reason: at a keyboard, and where something resumes the run.
var stopReasons = []struct {
	reason       policy.Reason
	status       policy.Status
	exit, parked int
}{
	{policy.AllStoriesPassed, policy.StatusCompleted, 0, 0},
	{policy.AllChecksPassed, policy.StatusCompleted, 0, 0},
	{policy.ResponseMatched, policy.StatusCompleted, 0, 0},
	{policy.PromiseAccepted, policy.StatusCompleted, 0, 0},
	{policy.DoneFile, policy.StatusCompleted, 0, 0},
	{policy.NothingToDo, policy.StatusCompleted, 0, 0},
	{policy.MaxIterations, policy.StatusStopped, 1, 1},
	{policy.BudgetExhausted, policy.StatusStopped, 1, 1},
	{policy.Timeout, policy.StatusStopped, 1, 1},
	{policy.Stalled, policy.StatusStopped, 1, 1},
	{policy.VerificationFailed, policy.StatusStopped, 1, 1},
	{policy.Waiting, policy.StatusWaiting, 1, 0},
	{policy.NeedsInput, policy.StatusWaiting, 1, 0},
	{policy.Cancelled, policy.StatusCancelled, 130, 130},
	{policy.FatalError, policy.StatusFailed, 2, 2},
	{"no such reason", policy.StatusFailed, 2, 2},
}

func TestReasons(t *testing.T) {
	known := map[policy.Reason]bool{}
	for _, end := range stopReasons {
		status := end.reason.Status()
		if status != end.status || status.ExitCode(false) != end.exit || status.ExitCode(true) != end.parked {
			t.Errorf("%s: %s, exit %d, parked %d; want %s, %d, %d", end.reason,
				status, status.ExitCode(false), status.ExitCode(true), end.status, end.exit, end.parked)
		}
		known[end.reason] = true
	}
	for _, reason := range policy.Reasons() {
		if !known[reason] {
			t.Errorf("reason %s is in no table", reason)
		}
	}
	if going, unknown := policy.StatusRunning.ExitCode(false), policy.Status("").ExitCode(false); going != 1 || unknown != 2 {
		t.Errorf("exit code %d while a run goes on, %d of an unknown status; want 1 and 2", going, unknown)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "1h30m": 90 * time.Minute, "0": 0, "1.5": 1500 * time.Millisecond, "1e3": 1000 * time.Second,
		"250ms": 250 * time.Millisecond, "0.5d": 12 * time.Hour, "1d12h": 36 * time.Hour,
	} {
		if got, err := policy.ParseDuration(text); err != nil || got.Std() != want {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", text, got.Std(), err, want)
		}
	}
	for _, text := range []string{
		"", "soon", "1 h", "0x10", "NaN", "Inf", "1e300", "3000000h", "-1", "-0.5h", "-1d", "d", "1h1d", "Infd", "200000d",
	} {
		got, err := policy.ParseDuration(text)
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(text)+" is not a duration") || got != 0 {
			t.Errorf("ParseDuration(%q) = %s, %v; want an error", text, got.Std(), err)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                "0s",
		12 * time.Millisecond:            "12ms",
		999*time.Millisecond + 600*1000:  "1s",
		1234 * time.Millisecond:          "1.2s",
		59600 * time.Millisecond:         "1m",
		6*time.Minute + 7*time.Second:    "6m7s",
		2 * time.Hour:                    "2h",
		time.Hour - 400*time.Millisecond: "1h",
	} {
		if got := policy.Duration(d).String(); got != want {
			t.Errorf("Short(%d ns) = %q, want %q", d, got, want)
		}
	}
}

// A limit that is written into the journal is the same when it is read back.
func TestDurationsSurviveTheJournal(t *testing.T) {
	for _, d := range []policy.Duration{0, 1, policy.Duration(1234567890), policy.Duration(90 * time.Second), policy.Duration(26 * time.Hour)} {
		data, err := json.Marshal(policy.Limits{Run: d})
		if err != nil {
			t.Fatal(err)
		}
		var back policy.Limits
		if err := json.Unmarshal(data, &back); err != nil || back.Run != d {
			t.Errorf("%d ns is %s, and read back %d ns, %v", d, data, back.Run, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"run":"soon"}`), &policy.Limits{}); err == nil {
		t.Error("a run of soon is read, want an error")
	}
}

func TestChecks(t *testing.T) {
	long := strings.Repeat("é", 39)
	got := policy.NewChecks([]string{
		"make test", "make lint", "make test", "line\nbreak", "line\nbroken", long + "1", long + "12", long + "13", "make test ",
	}, policy.Duration(time.Minute))
	var names []string
	for _, check := range got {
		names = append(names, check.Name)
		if check.Timeout != policy.Duration(time.Minute) {
			t.Errorf("%s: timeout %s", check.Name, check.Timeout)
		}
	}
	want := []string{"make test", "make lint", "line…", "line… (2)", long + "1", long + "1…", long + "1… (2)", "make test "}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if none := policy.NewChecks(nil, 0); len(none) != 0 {
		t.Errorf("Checks(nil) = %v", none)
	}
}

// The numbers that the docs repeat.
func TestDefaultsOfPresets(t *testing.T) {
	limits := policy.Limits{
		Iterations: 10, CostUSD: 5, Run: policy.Duration(2 * time.Hour), Iteration: policy.Duration(time.Hour),
		Idle: policy.Duration(15 * time.Minute), Stall: 3, Failures: 3,
	}
	more := limits
	more.Iterations = 25
	for _, want := range []policy.Policy{
		{
			Done: policy.ByStories, Word: "COMPLETE", Baseline: policy.BaselineNew, Tamper: policy.TamperReport,
			Excerpt: policy.Excerpt{Chars: 4000}, Limits: limits,
		},
		{
			Done: policy.ByResponse, Word: "DONE",
			Excerpt: policy.Excerpt{Chars: 5000, Head: true}, Limits: limits,
		},
		{
			Done: policy.ByTag, Word: "COMPLETE",
			Excerpt: policy.Excerpt{Chars: 2000}, Limits: more,
		},
		{
			Done: policy.ByPromise, Word: "DONE", Limits: policy.Limits{Iterations: 10},
			Session: policy.SessionRules{MinTools: 1},
		},
		{
			Done: policy.ByFile, Limits: policy.Limits{Iterations: 100},
			Supervision: policy.Supervision{
				Delay: policy.Duration(time.Second), Poll: policy.Duration(time.Second), Wait: policy.Duration(300 * time.Second),
			},
		},
	} {
		if diff := cmp.Diff(want, policy.ForPreset(want.Done)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Done, diff)
		}
	}
	if policy.DefaultCheckTimeout.Std() != 10*time.Minute {
		t.Errorf("checks have %s", policy.DefaultCheckTimeout)
	}
}

func TestTheLowerOfTwoLimits(t *testing.T) {
	a := policy.Limits{Iterations: 3, CostUSD: 5, Run: 60, Stall: 2}
	b := policy.Limits{Iterations: 10, CostUSD: 1, Tokens: 7, Iteration: 9, Idle: 4, Failures: 3}
	want := policy.Limits{Iterations: 3, CostUSD: 1, Tokens: 7, Run: 60, Iteration: 9, Idle: 4, Stall: 2, Failures: 3}
	for _, got := range []policy.Limits{a.Min(b), b.Min(a)} {
		if got != want {
			t.Errorf("Below = %+v, want %+v", got, want)
		}
	}
}

// A limit that only one of two has holds for both: 0 is no limit.
func TestNoLimitIsForgotten(t *testing.T) {
	limits := reflect.TypeFor[policy.Limits]()
	for i := range limits.NumField() {
		var one policy.Limits
		reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(7).Convert(limits.Field(i).Type))
		if got := one.Min(policy.Limits{}); got != one {
			t.Errorf("Min forgets %s", limits.Field(i).Name)
		}
	}
}

// A check is limited to paths by what stands before its command.
func TestChecksAreLimitedToPaths(t *testing.T) {
	for text, want := range map[string]policy.Check{
		"paths: web/** -> npm test":        {Name: "npm test", Command: "npm test", Paths: "web/**"},
		"paths:  a/*  b -> sh -c 'x -> y'": {Name: "sh -c 'x -> y'", Command: "sh -c 'x -> y'", Paths: "a/* b"},
		"paths: web/** → npm test":         {Name: "npm test", Command: "npm test", Paths: "web/**"},
		"echo paths: a -> b":               {Name: "echo paths: a -> b", Command: "echo paths: a -> b"},
		"paths: web/**":                    {Name: "paths: web/**", Command: "paths: web/**"},
	} {
		if diff := cmp.Diff([]policy.Check{want}, policy.NewChecks([]string{text, text}, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// The words of a loop within a session, which people's prompts and hooks rely on.
func TestWordsOfASession(t *testing.T) {
	for want, got := range map[string]string{
		"PROMISE_ACCEPTED":          policy.PromiseAccepted.SessionStatus(),
		"MAX_ITERATIONS_REACHED":    policy.MaxIterations.SessionStatus(),
		"<promise>DONE</promise>":   policy.ForPreset(policy.ByPromise).PromiseTag(),
		"<response>DONE</response>": policy.ForPreset(policy.ByResponse).PromiseTag(),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestProtectedFiles(t *testing.T) {
	for _, want := range []string{"CODEOWNERS", "**/.github/**", "**/.ralph/**"} {
		if !slices.Contains(policy.ProtectedFiles(), want) {
			t.Errorf("%s is not protected", want)
		}
	}
}
