package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Exit codes of a shell that could not run a command, and the statuses of a
// model server that turns an agent away for good. Trying again mends none of them.
const (
	exitNotRunnable  = 126
	exitNotFound     = 127
	statusNoKey      = 401
	statusNoCredit   = 402
	statusKeyRefused = 403
	statusNoModel    = 404
)

// ending is how an agent's program ended, beside what it said.
type ending struct {
	process.Result
	err         error // what went wrong around it
	interrupted bool
	speaks      bool   // it prints a protocol
	limit       string // its time, in words
	idle        string // how long it may say nothing
	now         func() time.Time
	lacks       string                   // why it has no key and no login, where it says so by failing
	fixes       map[stream.Denial]string // what to do about each denial
}

// unbegun tells whether there was never a program: an error, and no trace of one.
func (s *sum) unbegun(e ending) bool {
	return e.err != nil && !e.interrupted && e.Exit == 0 && s.silent()
}

func (s *sum) ended(e ending) journal.AgentEnded {
	ended := s.sum()
	ended.Exit, ended.Signal, ended.TimedOut = e.Exit, e.Signal, e.TimedOut
	ended.TookMS, ended.Swept = e.Took.Milliseconds(), e.Swept
	e = s.unanswered(e)
	ended.Why = s.why(e)
	ended.Failed = ended.Why != ""
	ended.CannotRun = s.hopeless(e)
	ended.Busy, ended.Until = s.busy(e)
	ended.Denied = s.denied(e)
	ended.Fix = e.fixes[ended.Denied]
	ended.Overspent = errors.Is(e.err, errOverspent) || errors.Is(e.err, errBoundless)
	return ended
}

func (s *sum) why(e ending) string {
	switch {
	case e.interrupted:
		return "interrupted"
	case errors.Is(e.err, errOverspent):
		return errOverspent.Error()
	case errors.Is(e.err, errBoundless):
		return errBoundless.Error()
	case errors.Is(e.err, errIdle):
		return "no output for " + e.idle
	case e.TimedOut:
		return "not done after " + e.limit
	case e.lacks != "":
		return e.lacks
	case s.result != nil && s.result.Failed:
		return s.failure(*s.result, e)
	case e.Signal != "":
		return "ended by " + e.Signal
	case e.Exit != 0:
		return s.exited(e)
	case e.err != nil:
		return e.err.Error()
	case e.speaks && s.result == nil:
		return agent.NoResult
	}
	return ""
}

// failure puts a result's parts in one line: "api_error 429: …".
func (s *sum) failure(r stream.Result, e ending) string {
	why := r.Reason
	if r.Status != 0 {
		why = strings.TrimSpace(fmt.Sprintf("%s %d", why, r.Status))
	}
	switch {
	case r.Text != "":
		return why + ": " + agent.Short(r.Text)
	case r.Reason == agent.NoResult && e.Signal != "":
		return why + ", by " + e.Signal
	case r.Reason == agent.NoResult && e.Exit != 0:
		return why + ", " + s.exited(e)
	}
	return why
}

func (s *sum) exited(e ending) string {
	if s.gripe == "" {
		return fmt.Sprintf("exit code %d", e.Exit)
	}
	return fmt.Sprintf("exit code %d: %s", e.Exit, s.gripe)
}

// hopeless tells whether a retry is useless: the program could not start
// working, and only a person can change that.
func (s *sum) hopeless(e ending) bool {
	switch {
	case e.interrupted, e.err != nil, e.TimedOut, e.Signal != "", s.tools > 0:
		return false
	case e.Exit == exitNotRunnable, e.Exit == exitNotFound, s.denied(e) != "":
		return true
	}
	return e.speaks && s.result == nil && s.lines == 0 && e.Exit != 0
}

// noCredit are the sentences in which makers say that an account is empty. Their
// statuses say that the request was bad, or that there were too many.
var noCredit = pattern.Of(`(?i)credit balance is too low|insufficient[ _](?:quota|credits?|funds|balance)|exceeded your current quota.*openai\.com|out of credits`)

// denied is why the model's server turned the agent away for good, if it did.
func (s *sum) denied(e ending) stream.Denial {
	r := s.result
	switch {
	case e.lacks != "":
		return stream.NoLogin
	case r == nil || !r.Failed:
		return ""
	case r.Denied != "":
		return r.Denied
	case r.Status == statusNoKey:
		return stream.NoLogin
	case r.Status == statusNoCredit, r.Status >= 400 && noCredit.MatchString(r.Text):
		return stream.NoCredit
	case r.Status == statusKeyRefused:
		return stream.NoAccess
	case r.Status == statusNoModel:
		return stream.NoModel
	}
	return ""
}

// passing are the HTTP statuses of a model server that will answer another
// time; 529 is Anthropic's word for being overloaded.
var passing = []int{408, 429, 500, 502, 503, 504, 529}

// busy tells whether the agent's turn failed because the server of its model
// turned it away for now, and until when. It goes by what the program reported
// of the call, never by words: an agent may write of rate limits all day.
func (s *sum) busy(e ending) (is bool, until time.Time) {
	if s.result == nil || !s.result.Failed || e.interrupted || e.err != nil || e.TimedOut || s.denied(e) != "" {
		return false, time.Time{}
	}
	r := *s.result
	if until = upcoming(r.Until, e.now); r.After > 0 && e.now != nil {
		until = e.now().Add(r.After)
	}
	return r.Busy || !until.IsZero() || slices.Contains(passing, r.Status), until.UTC()
}

// errIdle ends an agent that made no progress for too long.
var errIdle = errors.New("no progress")

// attend gives a context that ends when alive was not called for as long as
// patience; 0 means no limit.
func attend(ctx context.Context, patience time.Duration) (limited context.Context, alive func(), done context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if patience <= 0 {
		return ctx, func() {}, cancel
	}
	alarm := time.AfterFunc(patience, func() { cancel(errIdle) })
	return ctx, func() { alarm.Reset(patience) }, func(cause error) {
		alarm.Stop()
		cancel(cause)
	}
}

// lively is called for every write, unless the agent only tries again: then what it
// prints is no sign of life.
type lively struct {
	sum   *sum
	alive func()
}

func (l lively) Write(p []byte) (int, error) {
	l.sum.mu.Lock()
	defer l.sum.mu.Unlock()
	if l.sum.retry == nil {
		l.alive()
	}
	return len(p), nil
}

// retried follows whether the agent only tries again: since a retry it has neither
// spoken nor worked.
func (s *sum) retried(item stream.Item) {
	switch item := item.(type) {
	case stream.Retry:
		s.retry = &item
	case stream.Text, stream.ToolStart, stream.ToolEnd, stream.Todo:
		if s.retry != nil {
			s.retry = nil
			s.alive()
		}
	case stream.Progress, stream.Spent, stream.Result:
	}
}

// unanswered is the ending of an agent that tried again until it was ended, as if
// its program had given up and said why.
func (s *sum) unanswered(e ending) ending {
	if !errors.Is(e.err, errIdle) || s.retry == nil || s.result != nil && s.result.Reason != agent.NoResult {
		return e
	}
	s.result = &stream.Result{Failed: true, Reason: "no answer from the model for " + e.idle, Status: s.retry.Status, Text: s.retry.Reason}
	e.err, e.Signal = nil, ""
	return e
}

// upcoming is the next time that a clock shows what until does, where that
// names no year.
func upcoming(until time.Time, clock func() time.Time) time.Time {
	switch {
	case until.Year() > 0:
		return until
	case clock == nil:
		return time.Time{}
	}
	now := clock().In(until.Location())
	until = time.Date(now.Year(), now.Month(), now.Day(), until.Hour(), until.Minute(), 0, 0, now.Location())
	if until.Before(now) {
		until = until.AddDate(0, 0, 1)
	}
	return until
}

// fixes are what a person can do about each denial.
func fixes(a agent.Adapter) map[stream.Denial]string {
	return map[stream.Denial]string{
		stream.NoLogin:  a.Login,
		stream.NoAccess: "allow the key or login to use this model, or choose another model",
		stream.NoModel:  "choose a model that the server has, or another server (model-base-url)",
		stream.NoCredit: "add credit to the account of the key or the login, or use another",
	}
}

var (
	// errOverspent ends an agent that has used its budget.
	errOverspent = errors.New("the rest of the budget is used")
	// errBoundless ends one whose dollars are not known.
	errBoundless = errors.New("its model has no price, so the limit in dollars (max-cost) cannot hold: " +
		"name its price in agent.prices, or limit tokens (max-tokens) and set max-cost to 0")
)

// exceeded holds a model without a price to that of its maker's dearest. Without a
// maker that is known there is no bound.
func exceeded(b agent.Budget, s stream.Spent) error {
	usd := s.Cost.USD + s.Most
	switch {
	case b.USD > 0 && usd >= b.USD, b.Tokens > 0 && s.Usage.Tokens() >= b.Tokens:
		return errOverspent
	case b.USD > 0 && s.Boundless:
		return errBoundless
	}
	return nil
}
