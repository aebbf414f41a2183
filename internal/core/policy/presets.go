package policy

import (
	"maps"
	"slices"
	"time"
)

// Done says when a run is complete: one of the ways to loop an agent, each with a preset.
type Done string

// A run is complete when every story of its plan passes; when the checks are green and the agent answers with the word;
// or when the checks are green and the agent gave the word as its completion tag.
const (
	ByStories  Done = "stories"
	ByResponse Done = "response"
	ByTag      Done = "tag"
)

var presets = map[Done]Policy{
	ByStories: {
		Word:     "COMPLETE",
		Baseline: BaselineNew,
		Tamper:   TamperReport,
		Excerpt:  Excerpt{Chars: 4000},
		Limits:   defaultLimits,
	},
	ByResponse: {
		Word:    "DONE",
		Excerpt: Excerpt{Chars: 5000, Head: true},
		Limits:  defaultLimits,
	},
	ByTag: {
		Word:    "COMPLETE",
		Excerpt: Excerpt{Chars: 2000},
		Limits:  defaultLimits.withIterations(25),
	},
	ByPromise: {
		Word:    "DONE",
		Limits:  Limits{Iterations: 10},
		Session: SessionRules{MinTools: 1},
	},
	ByFile: {
		Limits: Limits{Iterations: 100},
		Supervision: Supervision{
			Delay: Duration(time.Second),
			Poll:  Duration(time.Second),
			Wait:  Duration(5 * time.Minute),
		},
	},
}

// defaultLimits are enough for a night's work, and stop a run that makes no progress.
var defaultLimits = Limits{
	Iterations: 10,
	CostUSD:    5,
	Run:        Duration(2 * time.Hour),
	Iteration:  Duration(time.Hour),
	Idle:       Duration(15 * time.Minute),
	Stall:      3,
	Failures:   3,
}

func (l Limits) withIterations(iterations int) Limits {
	l.Iterations = iterations
	return l
}

// Given returns the value of a flag or a file, or else the one before.
func Given[T any](value *T, before T) T {
	if value != nil {
		return *value
	}
	return before
}

// ForPreset returns the policy of a preset, which shares nothing with the table.
func ForPreset(done Done) Policy {
	p := presets[done]
	p.Done = done
	return p
}

// Reason is why a run stopped: the same word in the journal, the JSON, the outputs and the comment.
type Reason string

// The reasons a run can stop for.
const (
	AllStoriesPassed   Reason = "all_stories_passed"
	AllChecksPassed    Reason = "all_checks_passed"
	ResponseMatched    Reason = "response_matched"
	PromiseAccepted    Reason = "promise_accepted"
	DoneFile           Reason = "done_file"
	MaxIterations      Reason = "max_iterations"
	BudgetExhausted    Reason = "budget_exhausted"
	Timeout            Reason = "timeout"
	Stalled            Reason = "stalled"
	Waiting            Reason = "waiting"
	NeedsInput         Reason = "needs_input"
	NothingToDo        Reason = "nothing_to_do"
	Cancelled          Reason = "cancelled"
	VerificationFailed Reason = "verification_failed"
	FatalError         Reason = "fatal_error"
)

// Status is a Reason in one word for people and scripts.
type Status string

// The statuses a run can end with.
const (
	StatusCompleted Status = "completed"
	StatusWaiting   Status = "waiting"
	StatusStopped   Status = "stopped"
	StatusCancelled Status = "cancelled"
	StatusFailed    Status = "failed"
	StatusRunning   Status = "running"
)

var statuses = map[Reason]Status{
	AllStoriesPassed:   StatusCompleted,
	AllChecksPassed:    StatusCompleted,
	ResponseMatched:    StatusCompleted,
	PromiseAccepted:    StatusCompleted,
	DoneFile:           StatusCompleted,
	NothingToDo:        StatusCompleted,
	MaxIterations:      StatusStopped,
	BudgetExhausted:    StatusStopped,
	Timeout:            StatusStopped,
	Stalled:            StatusStopped,
	VerificationFailed: StatusStopped,
	Waiting:            StatusWaiting,
	NeedsInput:         StatusWaiting,
	Cancelled:          StatusCancelled,
	FatalError:         StatusFailed,
}

// Reasons returns all reasons, sorted.
func Reasons() []Reason { return slices.Sorted(maps.Keys(statuses)) }

// Status returns the status of a reason; an unknown reason failed.
func (r Reason) Status() Status {
	if status, known := statuses[r]; known {
		return status
	}
	return StatusFailed
}

// ExitCode returns the exit code of a status. parked: something will resume a waiting run.
func (s Status) ExitCode(parked bool) int {
	switch s {
	case StatusCompleted:
		return 0
	case StatusWaiting:
		if parked {
			return 0
		}
		return 1
	case StatusStopped, StatusRunning:
		return 1
	case StatusCancelled:
		return 130
	case StatusFailed:
		return 2
	}
	return 2
}
