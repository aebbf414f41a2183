package policy_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// stopReasons is CONTRACTS in a table: what each reason says in one word, and what a
// program ends with for it at a keyboard and where something will wake it.
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
	{"", policy.StatusFailed, 2, 2},
}

func TestReasons(t *testing.T) {
	if sorted := slices.IsSorted(policy.Reasons()); !sorted || len(policy.Reasons()) != len(constants(t, "Reason")) {
		t.Errorf("Reasons = %q, want each reason once, sorted", policy.Reasons())
	}
	var tested []string
	for _, end := range stopReasons {
		status := end.reason.Status()
		if status != end.status || status.ExitCode(false) != end.exit || status.ExitCode(true) != end.parked {
			t.Errorf("%s: %s, exit %d, parked %d; want %s, %d, %d", end.reason,
				status, status.ExitCode(false), status.ExitCode(true), end.status, end.exit, end.parked)
		}
		tested = append(tested, string(end.reason))
	}
	for _, reason := range constants(t, "Reason") {
		if !slices.Contains(tested, reason) {
			t.Errorf("reason %s is in no table", reason)
		}
	}
}

func TestStatusesHaveExits(t *testing.T) {
	for status, want := range map[policy.Status]int{policy.StatusRunning: 1, "no such status": 2} {
		if got := status.ExitCode(false); got != want {
			t.Errorf("%s: exit %d, want %d", status, got, want)
		}
	}
}

// constants returns the values of the constants of a type, as the source has them.
func constants(t *testing.T, typeName string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "presets.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || spec.Type == nil {
			return true
		}
		if name, is := spec.Type.(*ast.Ident); is && name.Name == typeName {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("reason.go has no constants of type %s", typeName)
	}
	return values
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0": 0, "0s": 0, "1.5": 1500 * time.Millisecond,
		"1.5h": 90 * time.Minute, "0.001": time.Millisecond, "1e3": 1000 * time.Second, "250ms": 250 * time.Millisecond,
		"1d": 24 * time.Hour, "0.5d": 12 * time.Hour, "1d12h": 36 * time.Hour, "0d": 0,
	} {
		if got, err := policy.ParseDuration(text); err != nil || got.Std() != want {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", text, got.Std(), err, want)
		}
	}
	for text, want := range map[string]string{
		"": "not a duration", "soon": "not a duration", "1 h": "not a duration", "10x": "not a duration", "NaN": "not a duration", "Inf": "not a duration",
		"-inf": "not a duration", "1e300": "not a duration", "9e18": "not a duration", "3000000h": "not a duration", "1e400": "not a duration", "1e": "not a duration", "9h9": "not a duration",
		"-1": "not a duration", "-1s": "not a duration", "-0.5h": "not a duration",
		"-1d": "not a duration", "d": "not a duration", "1h1d": "not a duration", "1dd": "not a duration", "1d1": "not a duration", "Infd": "not a duration", "200000d": "not a duration",
	} {
		got, err := policy.ParseDuration(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), strconv.Quote(text)) || got != 0 {
			t.Errorf("ParseDuration(%q) = %s, %v; want an error with %q", text, got.Std(), err, want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                "0s",
		340 * time.Microsecond:           "0s",
		12 * time.Millisecond:            "12ms",
		999*time.Millisecond + 600*1000:  "1s",
		1234 * time.Millisecond:          "1.2s",
		9960 * time.Millisecond:          "10s",
		12345 * time.Millisecond:         "12s",
		59600 * time.Millisecond:         "1m",
		6*time.Minute + 7*time.Second:    "6m7s",
		2 * time.Hour:                    "2h",
		2*time.Hour + 3*time.Second:      "2h3s",
		26*time.Hour + 30*time.Minute:    "26h30m",
		time.Hour - 400*time.Millisecond: "1h",
		-90 * time.Second:                "-1m30s",
	} {
		if got := policy.FormatDuration(d); got != want {
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

// What a run does to its policy does not change the next run's.
func TestOfSharesNothing(t *testing.T) {
	first := policy.ForPreset(policy.ByStories)
	first.Limits.Iterations = 99
	first.Protect = append(first.Protect, "x")
	first.Checks = append(first.Checks, policy.Check{Name: "x"})
	second := policy.ForPreset(policy.ByStories)
	if second.Limits.Iterations != 10 || len(second.Protect) != 0 || len(second.Checks) != 0 || second.Done != policy.ByStories {
		t.Errorf("Of = %+v after another run changed its own", second)
	}
	protected := policy.ProtectedFiles()
	protected[0] = "x"
	if policy.ProtectedFiles()[0] == "x" {
		t.Error("Protected shares its list")
	}
}

// The numbers of CONTRACTS, which the docs repeat.
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
	} {
		if diff := cmp.Diff(want, policy.ForPreset(want.Done)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Done, diff)
		}
	}
	if policy.DefaultCheckTimeout.Std() != 10*time.Minute {
		t.Errorf("checks have %s", policy.DefaultCheckTimeout)
	}
}

func TestDurationsInText(t *testing.T) {
	if got := policy.Duration(90 * time.Minute).String(); got != "1h30m" {
		t.Errorf("String = %s, want 1h30m", got)
	}
	var limits policy.Limits
	if err := json.Unmarshal([]byte(`{"run":"soon"}`), &limits); err == nil {
		t.Errorf("a run of %q is read as %s, want an error", "soon", limits.Run)
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
