package policy

import (
	"maps"
	"slices"
)

// Reason is why a run stopped: the same word in the journal, the JSON, the
// outputs and the comment.
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

// ends is the one table from reason to status. A reason that is not in it is
// no reason of ours.
var ends = map[Reason]Status{
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

// Reasons are all that there are, in the order of their words.
func Reasons() []Reason { return slices.Sorted(maps.Keys(ends)) }

// Status is what r says in one word; a reason unknown to the table failed.
func (r Reason) Status() Status {
	if status, known := ends[r]; known {
		return status
	}
	return StatusFailed
}

// Exit is the code a program ends with at this status. A run that waits has
// not failed where something will wake it, and has not completed elsewhere.
func (s Status) Exit(parked bool) int {
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
