// Package ending decides why a run did not succeed, as a cause with a headline and
// a next step. It reads nothing but the run. Comment, summary, console and
// annotations take their texts from its one table.
package ending

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Cause is why a run did not succeed.
type Cause string

// The causes, in groups. Within a group, the first that applies counts.
const (
	Unapproved  Cause = "plan not approved"
	Question    Cause = "needs input"
	BranchMoved Cause = "branch moved"
	NothingToDo Cause = "nothing to do"
	Cancelled   Cause = "cancelled"

	NoLogin    Cause = "no login"
	NoCredit   Cause = "no credit"
	NoAccess   Cause = "no access to the model"
	NoModel    Cause = "model not available"
	TurnedAway Cause = "rate limit"
	NotStarted Cause = "agent cannot start"
	Crashed    Cause = "agent crashed"

	Budget     Cause = "out of budget"
	Time       Cause = "out of time"
	Iterations Cause = "out of iterations"
	Stalled    Cause = "stalled"

	NoChecks      Cause = "no checks"
	SetupFails    Cause = "setup fails"
	CheckNoStart  Cause = "check cannot start"
	RedAtBase     Cause = "red at the base"
	RedOnCheckout Cause = "red on a clean checkout"
	TestsBroken   Cause = "existing tests broken"
	HostRefused   Cause = "host not allowed"
	Unproven      Cause = "not proven"

	PushRefused Cause = "push refused"
	PullRefused Cause = "pull request refused"
	BaseMoved   Cause = "base moved"
	Broke       Cause = "broke"
)

// Ending is the cause for one run, with texts.
type Ending struct {
	Cause    Cause
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

type texts struct {
	headline   string
	fix, after remedy
	reply      Reply
}

var table = map[Cause]texts{
	Unapproved:  {headline: "planned, and waiting for approval"},
	Question:    {headline: "a question is open", reply: Reply{"resume -- your answer", "answer in the prompt, and start the job again", "…"}},
	BranchMoved: {headline: "others have changed the branch", fix: anywhere("merge the changes by hand")},
	NothingToDo: {headline: "there was nothing to do"},
	Cancelled:   {headline: "by request"},

	NoLogin:    {headline: "the agent has no valid key or login", fix: anywhere("give the agent a valid key or login")},
	NoCredit:   {headline: "no credit is left on the account of the key or login", fix: anywhere("add credit to the account")},
	NoAccess:   {headline: "the key or login may not use the model", fix: anywhere("name a model that the key or login may use")},
	NoModel:    {headline: "the model server does not have the model", fix: anywhere("name a model that the server has")},
	TurnedAway: {headline: "the model server refused requests (rate limit or overload)", fix: anywhere("wait until the model server accepts requests again")},
	NotStarted: {headline: "the agent cannot start", fix: remedy{
		"install the agent in an earlier step, or choose another one with the input `agent`", "install the agent, or choose another one with `--agent`",
	}},
	Crashed: {headline: "the agent crashed", fix: remedy{
		"read the agent's last output in the job's log, and fix the cause", "read the agent's last output with `ralph report`, and fix the cause",
	}},

	Budget:     {headline: "out of budget", after: remedy{"the input `max-cost` sets a higher limit", "`--max-cost` sets a higher limit"}},
	Time:       {headline: "out of time", after: remedy{"the input `max-time` sets a higher limit", "`--max-time` sets a higher limit"}},
	Iterations: {headline: "out of iterations", after: remedy{"the input `max-iterations` sets a higher limit", "`--max-iterations` sets a higher limit"}},
	Stalled:    {headline: "no progress any more", after: anywhere("give the agent a hint about what it is missing"), reply: Reply{"-- <hint>", "add a hint to the prompt, and start the job again", "<hint>"}},

	NoChecks:      {headline: "nothing was verified: no check is configured", fix: configureChecks},
	SetupFails:    {headline: "nothing was verified: the setup commands fail on a fresh clone"},
	CheckNoStart:  {headline: "a check cannot start"},
	RedAtBase:     {headline: "nothing was verified: the checks were red before the work began"},
	RedOnCheckout: {headline: "the checks failed on a clean checkout", fix: provideFiles},
	TestsBroken:   {headline: "existing tests fail or no longer run", fix: anywhere("restore these files, or set `tamper: allow` if the change is right")},
	HostRefused:   {headline: "no progress any more, and the sandbox refused hosts that the work needs"},
	Unproven:      {headline: "a person has to look"},

	PushRefused: {headline: "the work could not be pushed", fix: anywhere("fix the reason why the push was refused")},
	PullRefused: {headline: "the pull request could not be opened", fix: anywhere("fix the reason why the pull request was refused")},
	BaseMoved:   {headline: "the base branch has moved on and conflicts with the work"},
	Broke:       {headline: "something broke", fix: anywhere("fix the cause")},
}

// Of returns how run ended. It has no cause if the run succeeded or is still active.
func Of(run journal.Run) Ending {
	if run.Stop == nil {
		return Ending{}
	}
	cause := causeOf(run)
	if cause == "" {
		return Ending{}
	}
	row := table[cause]
	e := Ending{cause, row.headline, run.Stop.Why, row.fix.text(run), row.after.text(run), row.reply}
	switch cause { //nolint:exhaustive // the table is enough for the others
	case NoLogin, NoCredit, NoAccess, NoModel, NotStarted:
		if fix := denied(run).fix; fix != "" {
			e.Fix = clean.Inline(fix, 300)
		}
	case NoChecks, SetupFails, RedAtBase:
		e.Why, e.Fix = "", BaseRemedy(run)
	case CheckNoStart:
		e.Why, e.Fix = strings.Join(unstartable(run), ", "), installProgram.text(run)
	case HostRefused:
		e.Why, e.Fix = refused(run)
	case PushRefused, PullRefused:
		if n := len(run.Failures); n > 0 {
			e.Why = run.Failures[n-1].Why
			e.Fix = cmp.Or(clean.Inline(run.Failures[n-1].Fix, 300), e.Fix)
		}
	case TestsBroken:
		inspected := verdict.LatestInspection(run)
		e.Headline, e.Why = verdict.FindingKinds(inspected), verdict.Findings(inspected)
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

func causeOf(run journal.Run) Cause {
	if verdict.NeedsApproval(run) {
		return Unapproved
	}
	switch run.Stop.Reason {
	case policy.NeedsInput:
		if run.Parted != nil {
			return BranchMoved
		}
		return Question
	case policy.NothingToDo:
		return NothingToDo
	case policy.Cancelled:
		return Cancelled
	case policy.Waiting:
		if run.Policy.Done == policy.ByFile || run.Policy.Done == policy.ByPromise { // the agent asked for it
			return ""
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
		if verdict.WhyTampered(run, run.Tree) != "" {
			return TestsBroken
		}
		return RedOnCheckout
	case policy.FatalError:
		return fatal(run)
	case policy.AllStoriesPassed:
		return unfinished(run)
	case policy.AllChecksPassed, policy.ResponseMatched, policy.PromiseAccepted, policy.DoneFile:
	}
	return ""
}

// blocked returns what prevented progress in the newest iteration, if known, or else the limit.
func blocked(run journal.Run, limit Cause) Cause {
	last, found := run.LastJudged()
	_, fix := refused(run)
	switch {
	case len(unstartable(run)) > 0:
		return CheckNoStart
	case fix != "":
		return HostRefused
	case isStillRed(run):
		return RedAtBase
	case found && last.Proof != nil && !last.Proof.Passed && len(last.Checks) > 0 && verdict.IsGreen(run, last.Checks):
		return RedOnCheckout
	}
	return limit
}

var denials = map[stream.Denial]Cause{stream.NoLogin: NoLogin, stream.NoCredit: NoCredit, stream.NoAccess: NoAccess, stream.NoModel: NoModel}

func fatal(run journal.Run) Cause {
	var act string
	if n := len(run.Failures); n > 0 {
		act = run.Failures[n-1].Act
	}
	last, found := run.LastJudged()
	switch d := denied(run); {
	case denials[d.why] != "":
		return denials[d.why]
	case d.cannotRun:
		return NotStarted
	case found && last.Agent != nil && last.Agent.Failed:
		return Crashed
	case slices.ContainsFunc(last.Checks, func(c journal.CheckEnded) bool { return c.Missing != "" }):
		return CheckNoStart
	case run.Plan.Done() && act == "open":
		return PullRefused
	case run.Plan.Done() && act == "push":
		return PushRefused
	}
	return Broke
}

// denial has the reason why the newest agent could not work.
type denial struct {
	cannotRun bool
	why       stream.Denial
	fix       string
}

func denied(run journal.Run) denial {
	if run.Unable != nil {
		return denial{true, run.Unable.Denied, run.Unable.Fix}
	}
	if n := len(run.Iterations); n > 0 && run.Iterations[n-1].Agent != nil {
		a := run.Iterations[n-1].Agent
		return denial{a.CannotRun, a.Denied, a.Fix}
	}
	return denial{}
}

// unfinished returns what is missing though all stories passed, or an empty cause.
func unfinished(run journal.Run) Cause {
	switch {
	case run.Parted != nil && run.Parted.Of == journal.OfBase:
		return BaseMoved
	case verdict.IsWorkProven(run):
		return ""
	}
	if _, verified := verdict.LatestProof(run); verified {
		return Unproven
	}
	switch {
	case len(run.Policy.Checks) == 0:
		return NoChecks
	case len(run.BaseChecks) == 0:
		return SetupFails
	case len(unstartable(run)) > 0:
		return CheckNoStart
	}
	return RedAtBase
}
