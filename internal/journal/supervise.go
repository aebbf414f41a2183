package journal

import "github.com/ralph-loop/ralph/internal/policy"

// TaskLooked is what the folder of a supervised task says.
type TaskLooked struct {
	Done   bool   `json:"done,omitempty"`
	Wait   string `json:"wait,omitempty"`   // how the agent asked not to be started again: file, message
	Words  string `json:"words,omitempty"`  // what it said with that
	Broken string `json:"broken,omitempty"` // why nothing can be told
}

// Paused begins the delay before the next attempt.
type Paused struct {
	MS int64 `json:"ms"`
}

// TaskSettled says that those around a task were told how it ended, as far as
// they could be.
type TaskSettled struct {
	Reason policy.Reason `json:"reason"`
	Words  string        `json:"words"`
	Failed []string      `json:"failed,omitempty"` // what could not be written or removed, and why
}

// Type is the event's name in the journal.
func (TaskLooked) Type() string  { return "task_looked" }
func (Paused) Type() string      { return "paused" }
func (TaskSettled) Type() string { return "task_settled" }

func (TaskLooked) event()  {}
func (Paused) event()      {}
func (TaskSettled) event() {}

// supervise takes what happened to a supervised task. What was seen before a
// delay says nothing of the time after.
func (r *Run) supervise(event Event) {
	if looked, is := event.(TaskLooked); is {
		r.Looked = &looked
	}
	if settled, is := event.(TaskSettled); is {
		r.Settled = &settled
	}
	if _, is := event.(Paused); is {
		r.Looked = nil
		if n := len(r.Iterations); n > 0 {
			r.Iterations[n-1].Paused = true
		}
	}
}
