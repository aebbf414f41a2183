// Package ending decides why a run did not succeed, as a cause with a headline and a next step. It reads nothing but
// the run. Comment, summary, console and annotations take their texts from its one table.
package ending

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Ending is the cause for one run, with texts.
type Ending struct {
	Cause    *Cause // nil if the run succeeded or is still active
	Headline string
	Why      string // details of this run
	Fix      string // what to do before the run can continue; Markdown
	After    string // how to raise the limit; Markdown
	Reply    Reply
}

// Reply is the text from people that the run needs to continue.
type Reply struct {
	Comment string // after /ralph
	Prompt  string // for a task in a workflow's prompt
	Answer  string // for the flag --answer
}

// Cause is why a run did not succeed, with its texts.
type Cause struct {
	name  string
	texts texts
}

type texts struct {
	headline string
	fix      remedy // what to do before the run can continue
	after    remedy // how to raise the limit
	reply    Reply
}

// The causes, in groups. Within a group, the first that applies counts.
var (
	Unapproved = &Cause{name: "plan not approved", texts: texts{headline: "planned, and waiting for approval"}}
	Question   = &Cause{name: "needs input", texts: texts{
		headline: "a question is open",
		reply: Reply{
			Comment: "resume -- your answer",
			Prompt:  "answer in the prompt, and start the job again",
			Answer:  "…",
		},
	}}
	BranchMoved = &Cause{name: "branch moved", texts: texts{
		headline: "others have changed the branch",
		fix:      anywhere("merge the changes by hand"),
	}}
	NothingToDo = &Cause{name: "nothing to do", texts: texts{headline: "there was nothing to do"}}
	Cancelled   = &Cause{name: "cancelled", texts: texts{headline: "by request"}}

	NoLogin = &Cause{name: "no login", texts: texts{
		headline: "the agent has no valid key or login",
		fix:      anywhere("give the agent a valid key or login"),
	}}
	NoCredit = &Cause{name: "no credit", texts: texts{
		headline: "no credit is left on the account of the key or login",
		fix:      anywhere("add credit to the account"),
	}}
	NoAccess = &Cause{name: "no access to the model", texts: texts{
		headline: "the key or login may not use the model",
		fix:      anywhere("name a model that the key or login may use"),
	}}
	NoModel = &Cause{name: "model not available", texts: texts{
		headline: "the model server does not have the model",
		fix:      anywhere("name a model that the server has"),
	}}
	TurnedAway = &Cause{name: "rate limit", texts: texts{
		headline: "the model server refused requests (rate limit or overload)",
		fix:      anywhere("wait until the model server accepts requests again"),
	}}
	NotStarted = &Cause{name: "agent cannot start", texts: texts{
		headline: "the agent cannot start",
		fix: remedy{
			job:   "install the agent in an earlier step, or choose another one with the input `agent`",
			local: "install the agent, or choose another one with `--agent`",
		},
	}}
	Crashed = &Cause{name: "agent crashed", texts: texts{
		headline: "the agent crashed",
		fix: remedy{
			job:   "read the agent's last output in the job's log, and fix the cause",
			local: "read the agent's last output with `ralph report`, and fix the cause",
		},
	}}

	Budget = &Cause{name: "out of budget", texts: texts{
		headline: "out of budget",
		after: remedy{
			job:   "the input `max-cost` sets a higher limit",
			local: "`--max-cost` sets a higher limit",
		},
	}}
	Time = &Cause{name: "out of time", texts: texts{
		headline: "out of time",
		after: remedy{
			job:   "the setting `limits.maxTime` sets a higher limit",
			local: "`--max-time` sets a higher limit",
		},
	}}
	Iterations = &Cause{name: "out of iterations", texts: texts{
		headline: "out of iterations",
		after: remedy{
			job:   "the setting `limits.maxIterations` sets a higher limit",
			local: "`--max-iterations` sets a higher limit",
		},
	}}
	Stalled = &Cause{name: "stalled", texts: texts{
		headline: "no progress any more",
		after:    anywhere("give the agent a hint about what it is missing"),
		reply: Reply{
			Comment: "resume -- <hint>",
			Prompt:  "add a hint to the prompt, and start the job again",
			Answer:  "<hint>",
		},
	}}

	NoChecks = &Cause{name: "no checks", texts: texts{
		headline: "nothing was verified: no check is configured",
		fix:      configureChecks,
	}}
	SetupFails = &Cause{name: "setup fails", texts: texts{
		headline: "nothing was verified: the setup commands fail on a fresh clone",
	}}
	CheckNoStart = &Cause{name: "check cannot start", texts: texts{headline: "a check cannot start"}}
	RedAtBase    = &Cause{name: "red at the base", texts: texts{
		headline: "nothing was verified: the checks were red before the work began",
	}}
	RedOnCheckout = &Cause{name: "red on a clean checkout", texts: texts{
		headline: "the checks failed on a clean checkout",
		fix:      provideFiles,
	}}
	TestsBroken = &Cause{name: "existing tests broken", texts: texts{
		headline: "existing tests fail or no longer run",
		fix:      anywhere("restore these files, or set `tamper: allow` if the change is right"),
	}}
	HostRefused = &Cause{name: "host not allowed", texts: texts{
		headline: "no progress any more, and the sandbox refused hosts that the work needs",
	}}
	Unproven = &Cause{name: "not proven", texts: texts{headline: "needs review"}}

	PushRefused = &Cause{name: "push refused", texts: texts{
		headline: "the work could not be pushed",
		fix:      anywhere("fix the reason why the push was refused"),
	}}
	PullRefused = &Cause{name: "pull request refused", texts: texts{
		headline: "the pull request could not be opened",
		fix:      anywhere("fix the reason why the pull request was refused"),
	}}
	BaseMoved = &Cause{name: "base moved", texts: texts{
		headline: "the base branch has moved on and conflicts with the work",
	}}
	Broke = &Cause{name: "broke", texts: texts{
		headline: "something broke",
		fix:      anywhere("fix the cause"),
	}}
)

// Of returns how run ended.
func Of(run journal.Run) Ending {
	if run.Stop == nil {
		return Ending{}
	}
	cause := causeOf(run)
	if cause == nil {
		return Ending{}
	}
	e := Ending{
		Cause:    cause,
		Headline: cause.texts.headline,
		Why:      run.Stop.Why,
		Fix:      cause.texts.fix.text(run),
		After:    cause.texts.after.text(run),
		Reply:    cause.texts.reply,
	}
	switch cause { // the texts of the others are enough
	case NoLogin, NoCredit, NoAccess, NoModel, NotStarted:
		e.Fix = cmp.Or(clean.Inline(newestAgent(run).Fix, 300), e.Fix)
	case NoChecks, SetupFails, RedAtBase:
		e.Why = ""
		e.Fix = BaseRemedy(run)
	case CheckNoStart:
		checks := unstartable(run)
		e.Why = strings.Join(namesOf(checks), ", ")
		e.Fix = installRemedy(checks[0]).text(run)
	case HostRefused:
		e.Why, e.Fix = refused(run)
	case PushRefused, PullRefused:
		if n := len(run.Published.Failures); n > 0 {
			e.Why = run.Published.Failures[n-1].Why
			e.Fix = cmp.Or(clean.Inline(run.Published.Failures[n-1].Fix, 300), e.Fix)
		}
	case TestsBroken:
		if whole, found := run.WholeProof(); found {
			e.Why = whole.Why
		}
	case RedOnCheckout:
		if it, found := run.LastJudged(); found && it.Proof != nil {
			e.Why = cmp.Or(it.Proof.Why, e.Why)
		}
	case Crashed:
		if run.Policy.Agent == "command" {
			e.Fix += "; start its command by hand to check its key or login"
		}
	case BaseMoved, Unproven, Unapproved:
		e.Why = ""
	}
	return e
}

func causeOf(run journal.Run) *Cause {
	if verdict.NeedsApproval(run) {
		return Unapproved
	}
	switch run.Stop.Reason {
	case policy.NeedsInput:
		if run.Merging.Parted != nil {
			return BranchMoved
		}
		return Question
	case policy.NothingToDo:
		return NothingToDo
	case policy.Cancelled:
		return Cancelled
	case policy.Waiting:
		isByAgent := run.Policy.Done == policy.ByFile || run.Policy.Done == policy.ByPromise
		if isByAgent { // it asked for the wait
			return nil
		}
		return TurnedAway
	case policy.BudgetExhausted:
		return Budget
	case policy.Timeout:
		return Time
	case policy.MaxIterations:
		return blocked(run, Iterations)
	case policy.Stalled:
		return blocked(run, Stalled)
	case policy.VerificationFailed:
		if whole, _ := run.WholeProof(); whole.Result == journal.NeedsReview {
			return TestsBroken
		}
		return RedOnCheckout
	case policy.FatalError:
		return fatal(run)
	case policy.AllStoriesPassed:
		return unfinished(run)
	case policy.AllChecksPassed, policy.ResponseMatched, policy.PromiseAccepted, policy.DoneFile:
	}
	return nil
}

// blocked returns what prevented progress in the newest iteration, if known, or else the limit.
func blocked(run journal.Run, limit *Cause) *Cause {
	_, fix := refused(run)
	switch {
	case len(unstartable(run)) > 0:
		return CheckNoStart
	case fix != "":
		return HostRefused
	case isStillRed(run):
		return RedAtBase
	case isRedOnCheckoutOnly(run):
		return RedOnCheckout
	}
	return limit
}

// isRedOnCheckoutOnly reports whether the checks of the newest iteration passed in the agent's tree, but failed on a
// clean checkout.
func isRedOnCheckoutOnly(run journal.Run) bool {
	last, found := run.LastJudged()
	if !found || last.Proof == nil || last.Proof.Passed {
		return false
	}
	return len(last.Checks) > 0 && verdict.IsGreen(run, last.Checks)
}

var denials = map[stream.Denial]*Cause{
	stream.NoLogin:  NoLogin,
	stream.NoCredit: NoCredit,
	stream.NoAccess: NoAccess,
	stream.NoModel:  NoModel,
}

func fatal(run journal.Run) *Cause {
	if verdict.BaseObstacle(run) != "" {
		return baseCause(run)
	}
	act := "" // the newest that failed on GitHub
	if n := len(run.Published.Failures); n > 0 {
		act = run.Published.Failures[n-1].Act
	}
	last, found := run.LastJudged()
	agent := newestAgent(run)
	switch {
	case denials[agent.Denied] != nil:
		return denials[agent.Denied]
	case agent.CannotRun:
		return NotStarted
	case found && last.Agent != nil && last.Agent.Failed:
		return Crashed
	case found && verdict.CannotCheck(run, last) != "":
		return CheckNoStart
	case run.Plan.Done() && act == "open":
		return PullRefused
	case run.Plan.Done() && act == "push":
		return PushRefused
	}
	return Broke
}

// baseCause returns why the checks at the base prove nothing.
func baseCause(run journal.Run) *Cause {
	switch {
	case run.HasSetupFailedAtBase():
		return SetupFails
	case len(unstartable(run)) > 0:
		return CheckNoStart
	}
	return RedAtBase
}

// newestAgent returns the end of the newest agent, also of one that could not make a plan.
func newestAgent(run journal.Run) journal.AgentEnded {
	if plan := run.Planning.Unable; plan != nil {
		return journal.AgentEnded{CannotRun: true, Denied: plan.Denied, Fix: plan.Fix}
	}
	if n := len(run.Iterations); n > 0 && run.Iterations[n-1].Agent != nil {
		return *run.Iterations[n-1].Agent
	}
	return journal.AgentEnded{}
}

// unfinished returns what is missing though all stories passed, or nil.
func unfinished(run journal.Run) *Cause {
	switch {
	case run.Merging.Parted != nil && run.Merging.Parted.Of == journal.OfBase:
		return BaseMoved
	case verdict.IsWorkProven(run):
		return nil
	}
	if verdict.IsVerified(run) {
		return Unproven
	}
	if len(run.Policy.Checks) == 0 {
		return NoChecks
	}
	return baseCause(run)
}
