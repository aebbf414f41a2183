package journal

import (
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

// TaskLooked is the state of a supervised task's folder.
type TaskLooked struct {
	Done   bool   `json:"done,omitempty"`
	Wait   string `json:"wait,omitempty"`   // how the agent asked not to be started again: file, message
	Words  string `json:"words,omitempty"`  // the message
	Broken string `json:"broken,omitempty"` // why the state is unknown
}

func (e TaskLooked) fold(r *Run, _ time.Time) { r.Looked = &e }

// Paused begins the delay before the next attempt.
type Paused struct {
	MS  int64  `json:"ms"`
	Why string `json:"why,omitempty"`
}

// fold begins the delay. The task's folder must be read again after it.
func (p Paused) fold(r *Run, at time.Time) {
	r.Looked = nil
	if n := len(r.Iterations); n > 0 {
		r.Iterations[n-1].Paused, r.Iterations[n-1].Wake = true, at.Add(p.Delay())
	}
}

// Delay returns how long the run waits.
func (p Paused) Delay() time.Duration { return time.Duration(p.MS) * time.Millisecond }

// TaskSettled records that the end of a task was announced.
type TaskSettled struct {
	Reason policy.Reason `json:"reason"`
	Words  string        `json:"words"`
	Failed []string      `json:"failed,omitempty"` // what could not be written or removed, and why
}

func (e TaskSettled) fold(r *Run, _ time.Time) { r.Settled = &e }
