// Package ending says why a run did not do what was asked, as a cause with a
// headline and what to do next. It reads the record and nothing else. Comment,
// summary, console and annotation take their words from its one table.
package ending

import (
	"cmp"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Cause is why a run did not do what was asked.
type Cause string

// The causes, in the order in which they are looked for within each group.
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

// Ending is a cause in the words of one run.
type Ending struct {
	Cause    Cause
	Headline string
	Why      string // the run's own words about the cause
	Fix      string // what to do before the run can go on; Markdown
	After    string // how more is allowed; Markdown
	Say      Say
}

// Say is what people have to tell the agent for the run to go on.
type Say struct {
	Comment string // behind /ralph
	Prompt  string // where the task is a workflow's own prompt
	Answer  string // in the flag --answer
}

type words struct {
	headline   string
	fix, after cure
	say        Say
}

var table = map[Cause]words{
	Unapproved:  {headline: "planned, and waiting for approval"},
	Question:    {headline: "a question is open", say: Say{"resume -- your answer", "answer in the prompt, and start the job again", "…"}},
	BranchMoved: {headline: "others have changed the branch"},
	NothingToDo: {headline: "there was nothing to do"},
	Cancelled:   {headline: "by request"},

	NoLogin:    {headline: "the agent has no valid key or login", fix: same("give the agent a valid key or login")},
	NoCredit:   {headline: "no credit is left on the account of the key or login", fix: same("add credit to the account")},
	NoAccess:   {headline: "the key or login may not use the model", fix: same("name a model that the key or login may use")},
	NoModel:    {headline: "the model server does not have the model", fix: same("name a model that the server has")},
	TurnedAway: {headline: "the model server refused requests (rate limit or overload)", fix: same("wait until the model server accepts requests again")},
	NotStarted: {headline: "the agent cannot start", fix: cure{
		"install the agent in an earlier step, or choose another one with the input `agent`", "install the agent, or choose another one with `--agent`",
	}},
	Crashed: {headline: "the agent crashed", fix: cure{
		"read the agent's last output in the job's log, and fix the cause", "read the agent's last output with `ralph report`, and fix the cause",
	}},

	Budget:     {headline: "out of budget", after: cure{"the input `max-cost` sets a higher limit", "`--max-cost` sets a higher limit"}},
	Time:       {headline: "out of time", after: cure{"the input `max-time` sets a higher limit", "`--max-time` sets a higher limit"}},
	Iterations: {headline: "out of iterations", after: cure{"the input `max-iterations` sets a higher limit", "`--max-iterations` sets a higher limit"}},
	Stalled:    {headline: "no progress any more", after: same("give the agent a hint about what it is missing"), say: Say{"-- <hint>", "add a hint to the prompt, and start the job again", "<hint>"}},

	NoChecks:      {headline: "nothing was verified: no check is configured", fix: nameChecks},
	SetupFails:    {headline: "nothing was verified: the setup commands fail on a fresh clone"},
	CheckNoStart:  {headline: "a check cannot start"},
	RedAtBase:     {headline: "nothing was verified: the checks were red before the work began"},
	RedOnCheckout: {headline: "the checks failed on a clean checkout", fix: haveFiles},
	TestsBroken:   {headline: "existing tests fail or no longer run", fix: same("restore these files, or set `tamper: allow` if the change is right")},
	HostRefused:   {headline: "no progress any more, and the sandbox refused hosts that the work needs"},
	Unproven:      {headline: "a person has to look"},

	PushRefused: {headline: "the work could not be pushed", fix: same("fix the reason why the push was refused")},
	PullRefused: {headline: "the pull request could not be opened", fix: same("fix the reason why the pull request was refused")},
	BaseMoved:   {headline: "the base branch has moved on and conflicts with the work"},
	Broke:       {headline: "something broke", fix: same("fix the cause")},
}

// Of is how run ended; without a cause where it did what was asked or goes on.
func Of(run journal.Run) Ending {
	if run.Stop == nil {
		return Ending{}
	}
	cause := causeOf(run)
	if cause == "" {
		return Ending{}
	}
	row := table[cause]
	e := Ending{cause, row.headline, run.Stop.Why, row.fix.of(run), row.after.of(run), row.say}
	switch cause { //nolint:exhaustive // the others say what the table has
	case NoLogin, NoCredit, NoAccess, NoModel, NotStarted:
		if fix := denied(run).fix; fix != "" {
			e.Fix = clean.Inline(fix, 300)
		}
	case NoChecks, SetupFails, RedAtBase:
		e.Why, e.Fix = "", Mend(run)
	case CheckNoStart:
		e.Why, e.Fix = strings.Join(unstartable(run), ", "), ToStart(run)
	case HostRefused:
		e.Why, e.Fix = refused(run)
	case PushRefused, PullRefused:
		if n := len(run.Failures); n > 0 {
			e.Why = run.Failures[n-1].Why
			e.Fix = cmp.Or(clean.Inline(run.Failures[n-1].Fix, 300), e.Fix)
		}
	case TestsBroken:
		e.Headline = verdict.FindingKinds(verdict.LatestInspection(run))
		e.Why = strings.TrimPrefix(strings.TrimPrefix(e.Why, e.Headline), ": ")
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

// blocked is what kept the newest iteration from a better end, if known; else the limit.
func blocked(run journal.Run, limit Cause) Cause {
	last, found := run.LastJudged()
	_, fix := refused(run)
	switch {
	case len(unstartable(run)) > 0:
		return CheckNoStart
	case fix != "":
		return HostRefused
	case redSince(run):
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
	case d.unable:
		return NotStarted
	case found && last.Agent != nil && last.Agent.Failed && strings.HasSuffix(run.Stop.Why, last.Agent.Why):
		return Crashed
	case found && len(last.Checks) > 0 && strings.HasSuffix(run.Stop.Why, "is not installed"):
		return CheckNoStart
	case run.Plan.Done() && act == "open":
		return PullRefused
	case run.Plan.Done() && act == "push":
		return PushRefused
	}
	return Broke
}

// denial is why the newest agent could not work.
type denial struct {
	unable bool
	why    stream.Denial
	fix    string
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

// unfinished is what is missing where every story passed; empty where nothing is.
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
