// Package stream defines the Items that an agent says and does while it works, the same for all agents. It stores
// nothing: console, claim scanner and meter read the Items, and the journal gets their sum.
package stream

import (
	"math"
	"time"
)

// Item is one thing an agent said or did. The set is closed.
//
//sumtype:decl
type Item interface{ item() }

// ToolStart is the beginning of a tool call.
type ToolStart struct {
	ID    string // ties the end to the start
	Name  string
	Input string // a short line a person can read
}

// ToolEnd is the end of a tool call.
type ToolEnd struct {
	ID     string
	Output string
	Failed bool
}

// Text is the agent's own words: only these and a Result can hold claims.
type Text struct{ Text string }

// Todo is the agent's task list as it stands now.
type Todo struct{ Tasks []Task }

// Task is a line of a Todo.
type Task struct {
	Text  string
	State TaskState
}

// TaskState is how far a Task is.
type TaskState string

// The states a Task can have.
const (
	TaskPending TaskState = "pending"
	TaskActive  TaskState = "active"
	TaskDone    TaskState = "done"
)

// Progress is news of the agent's own workings, such as its model.
type Progress struct{ Text string }

// Retry is a wait the agent's program takes before asking its model again.
type Retry struct {
	Reason  string
	Status  int // HTTP status, 0 when unknown
	Attempt int
	Delay   time.Duration
}

// Denial is why a model's server turns an agent away until a person has acted.
type Denial string

// The denials.
const (
	NoLogin  Denial = "login"  // its key or login is missing, or was refused
	NoAccess Denial = "access" // the key is good, and not for this
	NoCredit Denial = "credit" // nothing is left on the account
	NoModel  Denial = "model"  // its server does not have the model
)

// Spent is what an agent has used since it began; it replaces the one before.
type Spent struct {
	Usage Usage
	Cost  Cost
}

// Plus returns the sum.
func (s Spent) Plus(t Spent) Spent {
	return Spent{s.Usage.Plus(t.Usage), s.Cost.Plus(t.Cost)}
}

// Result closes an agent's run. Failed is the program's own word for it.
type Result struct {
	Text   string
	Failed bool
	Reason string // why it ended, in the agent program's word
	Status int    // HTTP status of the API error that ended it, 0 when none
	Usage  Usage
	Cost   Cost

	Busy   bool   // the model's server turned it away for now, where no status says so
	Denied Denial // it was turned away for good, where no status says so

	// When the model may be asked again, by its server's word: a time, or how long from now.
	Until time.Time
	After time.Duration
}

// Unanswered ends a turn whose model server refuses the key, or cannot be reached. Result takes
// the place of the agent's.
type Unanswered struct{ Result Result }

// Error returns the reason.
func (u *Unanswered) Error() string { return u.Result.Reason }

// Usage is what a model was asked and answered, in tokens.
type Usage struct {
	Input      int64 `json:"input,omitempty"`
	Output     int64 `json:"output,omitempty"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	CacheHour  int64 `json:"cache_hour,omitempty"` // of CacheWrite: what is kept for an hour
}

// Tokens returns all that passed, in and out, cached or not.
func (u Usage) Tokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage { return u.each(v, func(a, b int64) int64 { return a + b }) }

// Minus is u without v.
func (u Usage) Minus(v Usage) Usage { return u.each(v, func(a, b int64) int64 { return a - b }) }

// Max returns the larger of two usages in each of their parts.
func (u Usage) Max(v Usage) Usage { return u.each(v, func(a, b int64) int64 { return max(a, b) }) }

// MostTokens is more than any model was ever asked.
const MostTokens = 1_000_000_000_000

// Plausible is u within bounds: a negative usage would increase a budget.
func (u Usage) Plausible() Usage {
	return u.each(u, func(a, _ int64) int64 { return min(max(a, 0), MostTokens) })
}

func (u Usage) each(v Usage, do func(a, b int64) int64) Usage {
	return Usage{
		do(u.Input, v.Input), do(u.Output, v.Output),
		do(u.CacheRead, v.CacheRead), do(u.CacheWrite, v.CacheWrite), do(u.CacheHour, v.CacheHour),
	}
}

// Plus returns the sum of two costs, known where both are.
func (c Cost) Plus(d Cost) Cost { return Cost{c.USD + d.USD, c.Known && d.Known, c.Most + d.Most} }

const mostDollars = 1_000_000

// Plausible is c within bounds. A negative cost would increase a budget, and an infinite one cannot be written as JSON.
func (c Cost) Plausible() Cost {
	if math.IsNaN(c.USD) || c.USD < 0 {
		c.USD, c.Known = 0, false
	}
	return Cost{min(c.USD, mostDollars), c.Known, min(max(c.Most, 0), mostDollars)}
}

// Amount returns the cost in dollars, or nil if it is unknown: 0 would say that it was free.
func (c Cost) Amount() *float64 {
	if !c.Known && c.USD == 0 {
		return nil
	}
	return &c.USD
}

// Cost is in US dollars. An unknown cost is not zero.
type Cost struct {
	USD   float64 `json:"usd"`
	Known bool    `json:"known"`
	Most  float64 `json:"most_usd,omitempty"` // besides: of models without a price, as of the most expensive ones
}

func (ToolStart) item() {}
func (ToolEnd) item()   {}
func (Text) item()      {}
func (Todo) item()      {}
func (Progress) item()  {}
func (Retry) item()     {}
func (Spent) item()     {}
func (Result) item()    {}
