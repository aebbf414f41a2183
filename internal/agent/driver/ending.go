package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Exit codes of a shell, and statuses of a model server, after which a retry does not help.
const (
	exitNotRunnable  = 126
	exitNotFound     = 127
	statusNoKey      = 401
	statusNoCredit   = 402
	statusKeyRefused = 403
	statusNoModel    = 404
)

// ending is how a run of the agent ended.
type ending struct {
	process.Result
	agent        *Agent
	err          error // could not be started or read
	interrupted  bool
	missingLogin string // why it has neither key nor login; empty: it has

	unanswered *stream.Unanswered // its model server ended the turn; nil: it did not
	upstream   int                // status of the provider's last answer; 0: unknown
}

func (e ending) neverStarted(s *collector) bool {
	if e.unanswered != nil {
		return false
	}
	return e.err != nil && !e.interrupted && e.Exit == 0 && s.lines == 0
}

func (s *collector) event(e ending) journal.AgentEnded {
	ended := s.totals()
	ended.Exit = e.Exit
	ended.Signal = e.Signal
	ended.TimedOut = e.TimedOut
	ended.TookMS = e.Took.Milliseconds()
	ended.Swept = e.Swept
	e = s.retriesAsFailure(e)
	e = s.refusedAsFailure(e)
	e = s.unansweredAsFailure(e)
	ended.Why = s.failureReason(e)
	ended.Failed = ended.Why != ""
	ended.CannotRun = s.cannotRun(e)
	ended.Busy, ended.Until = s.busy(e)
	ended.Denied = s.denied(e)
	ended.Fix = denialHints(e.agent.Adapter)[ended.Denied]
	return ended
}

func (s *collector) failureReason(e ending) string {
	switch {
	case e.interrupted:
		return "interrupted"
	case errors.Is(e.err, errIdle):
		return "no output for " + policy.FormatDuration(e.agent.Idle)
	case e.TimedOut:
		return "not done after " + policy.FormatDuration(e.agent.Timeout)
	case e.missingLogin != "":
		return e.missingLogin
	case s.result != nil && s.result.Failed:
		return s.failure(*s.result, e)
	case e.Signal != "":
		return "ended by " + e.Signal
	case e.Exit != 0:
		return s.exitText(e)
	case e.err != nil:
		return e.err.Error()
	case !e.agent.Adapter.Plain && s.result == nil:
		return agent.NoResult
	}
	return ""
}

func (s *collector) failure(r stream.Result, e ending) string {
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
		return why + ", " + s.exitText(e)
	}
	return why
}

func (s *collector) exitText(e ending) string {
	if s.lastError == "" {
		return fmt.Sprintf("exit code %d", e.Exit)
	}
	return fmt.Sprintf("exit code %d: %s", e.Exit, s.lastError)
}

func (s *collector) cannotRun(e ending) bool {
	switch {
	case e.interrupted, e.err != nil, e.TimedOut, e.Signal != "", s.tools > 0:
		return false
	case e.Exit == exitNotRunnable, e.Exit == exitNotFound, s.denied(e) != "":
		return true
	}
	printedNothing := s.result == nil && s.lines == 0
	return printedNothing && e.Exit != 0 && !e.agent.Adapter.Plain
}

// noCredit matches messages for an account without credit, which have no status of their own.
var noCredit = pattern.Of(`(?i)credit balance is too low|insufficient[ _](?:quota|credits?|funds|balance)|` +
	`exceeded your current quota.*openai\.com|out of credits`)

func (s *collector) denied(e ending) stream.Denial {
	r := s.result
	switch {
	case e.missingLogin != "":
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

// retryableStatuses are those of a server that is busy: 529 is Anthropic's for overload.
var retryableStatuses = []int{408, 429, 500, 502, 503, 504, 529}

// busy reports whether the turn failed because the model server was busy, and until when. It uses the reported status,
// never the agent's words: an agent may write about rate limits.
func (s *collector) busy(e ending) (bool, time.Time) {
	if s.result == nil || !s.result.Failed {
		return false, time.Time{}
	}
	if e.interrupted || e.err != nil || e.TimedOut {
		return false, time.Time{}
	}
	if s.denied(e) != "" {
		return false, time.Time{}
	}
	r := *s.result
	until := nextTime(r.Until, e.agent.Now)
	if r.After > 0 {
		until = e.agent.Now().Add(r.After)
	}
	busy := r.Busy || !until.IsZero() || slices.Contains(retryableStatuses, r.Status)
	return busy, until.UTC()
}

var errIdle = errors.New("no progress")

// withIdleLimit returns a context that ends if alive is not called for the time patience; 0: no limit.
func withIdleLimit(
	ctx context.Context, patience time.Duration,
) (limited context.Context, alive func(), done context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if patience <= 0 {
		return ctx, func() {}, cancel
	}
	alarm := time.AfterFunc(patience, func() { cancel(errIdle) })
	alive = func() { alarm.Reset(patience) }
	done = func(cause error) {
		alarm.Stop()
		cancel(cause)
	}
	return ctx, alive, done
}

// activityWriter counts output as activity, unless the agent only retries.
type activityWriter struct {
	sum   *collector
	alive func()
}

func (w activityWriter) Write(p []byte) (int, error) {
	w.sum.mu.Lock()
	defer w.sum.mu.Unlock()
	if w.sum.retry == nil {
		w.alive()
	}
	return len(p), nil
}

// noteRetry records whether the agent has only retried since its last text or tool call.
func (s *collector) noteRetry(item stream.Item) {
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

// retriesAsFailure returns the ending of an agent that was still retrying at its idle limit.
func (s *collector) retriesAsFailure(e ending) ending {
	if !errors.Is(e.err, errIdle) || s.retry == nil {
		return e
	}
	if s.result != nil && s.result.Reason != agent.NoResult {
		return e
	}
	s.result = &stream.Result{
		Failed: true,
		Reason: "no answer from the model for " + policy.FormatDuration(e.agent.Idle),
		Status: s.retry.Status,
		Text:   s.retry.Reason,
	}
	e.err = nil
	e.Signal = ""
	return e
}

// refusedAsFailure returns the ending of a turn in which the provider's last answer was an error. Programs that speak
// the Agent Client Protocol report that as their words, without its status, or not at all.
func (s *collector) refusedAsFailure(e ending) ending {
	if e.upstream < 400 || e.interrupted {
		return e
	}
	r := s.result
	reported := r != nil && r.Failed && r.Reason != agent.NoResult
	if reported && !errors.Is(e.err, errIdle) {
		if r.Status == 0 {
			r.Status = e.upstream
		}
		return e
	}
	s.result = &stream.Result{
		Failed: true,
		Reason: "the model's last answer was an error, status",
		Status: e.upstream,
	}
	e.err = nil
	e.Signal = ""
	return e
}

// unansweredAsFailure returns the ending of an agent whose model server ended the turn: what the agent reports does not
// count then. Some agents report a refused key as a success.
func (s *collector) unansweredAsFailure(e ending) ending {
	if e.unanswered == nil || e.interrupted {
		return e
	}
	s.result = &e.unanswered.Result
	e.err = nil
	e.Signal = ""
	e.missingLogin = ""
	return e
}

// nextTime completes a time of day without a date: the next moment with that time. JSON has no years above 9999.
func nextTime(until time.Time, clock func() time.Time) time.Time {
	switch {
	case until.UTC().Year() > 9999:
		return time.Time{}
	case until.Year() > 0:
		return until
	}
	now := clock().In(until.Location())
	until = time.Date(now.Year(), now.Month(), now.Day(), until.Hour(), until.Minute(), 0, 0, now.Location())
	if until.Before(now) {
		until = until.AddDate(0, 0, 1)
	}
	return until
}

func denialHints(a agent.Adapter) map[stream.Denial]string {
	return map[stream.Denial]string{
		stream.NoLogin:  a.Login,
		stream.NoAccess: "allow the key or login to use this model, or choose another model",
		stream.NoModel:  "choose a model that the server has, or another server (model-base-url)",
		stream.NoCredit: "add credit to the account of the key or the login, or use another",
	}
}
