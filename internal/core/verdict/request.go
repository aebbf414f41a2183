package verdict

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
)

// Request is a command for a task that an earlier run may have worked on.
type Request struct {
	Verb       trigger.Verb
	Story      string // the story to repeat
	Words      string
	Asker      string
	SameTask   bool   // the newest run has the same task
	SameRules  bool   // and the same rules
	JobURL     string // of the job that asks
	Number     int    // of the issue or pull request; 0: none
	BusyJobURL string // of another job that works on the task; empty: none
	Distrust   string // why the record of the newest run is not trusted
	PlanHidden bool   // the progress comment does not show the plan to approve
	Pull       int    // the open pull request with the newest run's branch; 0: none
	PullHead   string
}

// Decision is how to handle a Request. Without Resume and Refuse, a new run begins.
type Decision struct {
	Resume   *journal.Resumed
	Refuse   string // why no run begins or continues
	ShowPlan bool   // the comment has to show the plan again
}

// planChanged answers the approval of a plan that the comment did not show.
const planChanged = "The progress comment no longer showed this plan: it had been changed. " +
	"It shows the plan again: read it, and comment `/ralph approve`."

// Decide returns the decision on a request. old is the newest run of the task, if any.
func Decide(a Request, old journal.Run) Decision {
	if a.BusyJobURL != "" {
		return Decision{Refuse: busyMessage(a)}
	}
	decision := decideIdle(a, old)
	switch {
	case decision.Refuse != "" && a.Distrust != "":
		return Decision{Refuse: "Sorry, " + a.Distrust + ", so the run cannot continue. " +
			"`/ralph` verifies the work on its branch again."}
	case decision.Refuse == "" && a.PlanHidden: // others may edit the comment; people approve what they read
		return Decision{Refuse: planChanged, ShowPlan: true}
	}
	return decision
}

func busyMessage(a Request) string {
	if a.Number == 0 {
		return "a job already works on this: " + a.BusyJobURL + ". Cancel it or wait for its end, then ask again."
	}
	return fmt.Sprintf("[A job](%s) already works on this. `/ralph stop` ends it; then ask again.", a.BusyJobURL)
}

func decideIdle(a Request, old journal.Run) Decision {
	switch a.Verb {
	case trigger.Resume:
		return resume(a, old)
	case trigger.Retry:
		return retry(a, old)
	case trigger.Approve:
		return approve(a, old)
	case trigger.Run, trigger.Plan, trigger.Help, trigger.Stop, trigger.Status, trigger.Prove, trigger.Update:
	}
	if why := whyResume(a, old); why != "" {
		return Decision{Resume: &journal.Resumed{Why: why}}
	}
	if a.Verb == trigger.Run && isAnsweredBy(a, old) {
		return Decision{Refuse: fmt.Sprintf("This is done: #%d is as ralph left it, and every story is proven. %s",
			a.Pull, howToAskForMore(old))}
	}
	return Decision{}
}

// isAnsweredBy reports whether the open pull request shows what is asked for, proven by the same rules. A new run would
// undo that work.
func isAnsweredBy(a Request, old journal.Run) bool {
	if !a.SameTask || !a.SameRules {
		return false
	}
	if a.Pull == 0 || a.PullHead != old.Head {
		return false
	}
	return isDone(old)
}

func howToAskForMore(old journal.Run) string {
	first := old.Plan.UserStories[0].ID
	return fmt.Sprintf("Ask for more with `/ralph -- your words`; `/ralph retry %s` repeats a story.", first)
}

// whyResume returns why the newest run continues: it is unfinished, or would get further now. It returns nothing if
// the task changed.
func whyResume(a Request, old journal.Run) string {
	switch {
	case old.ID == "" || !a.SameTask || a.Verb == trigger.Plan:
		return ""
	case old.Stop == nil:
		return "an earlier job ended before the run did"
	case a.JobURL != "" && a.JobURL == old.Links.Log: // the same job again: it was killed
		return "requested again"
	case isFinished(old) || old.Stop.Reason == policy.VerificationFailed:
		return ""
	}
	return "requested again"
}

// planUnapproved answers a command that would work on a plan without approval.
const planUnapproved = "The plan has not been approved yet. `/ralph approve` starts the work."

func resume(a Request, old journal.Run) Decision {
	switch {
	case old.ID == "":
		return Decision{Refuse: "There is no unfinished run to continue. `/ralph` starts one."}
	case a.Story == "" && isFinished(old): // the words would be ignored
		return Decision{Refuse: "There is no unfinished run to continue. " + howToAskForMore(old)}
	case NeedsApproval(old):
		return Decision{Refuse: planUnapproved}
	}
	return Decision{Resume: &journal.Resumed{Why: askedBy(a), Words: a.Words}}
}

// retry is resume, with a story to repeat.
func retry(a Request, old journal.Run) Decision {
	decision := resume(a, old)
	if a.Story == "" || decision.Refuse != "" {
		return decision
	}
	var ids []string
	for _, story := range old.Plan.UserStories {
		ids = append(ids, story.ID)
	}
	indexOf := func(word string) int {
		return slices.IndexFunc(ids, func(id string) bool { return strings.EqualFold(id, word) })
	}
	at := indexOf(a.Story)
	next := append(strings.Fields(a.Words), "")[0]
	switch {
	case at < 0:
		return Decision{Refuse: fmt.Sprintf("There is no such story here. There are: %s.", strings.Join(ids, ", "))}
	case isFinished(old) && old.Published.Pull != nil && a.Pull == 0: // the work would reach no pull request
		return Decision{Refuse: fmt.Sprintf("#%d is no longer open. `/ralph -- your words` starts a new run, "+
			"which opens another pull request.", old.Published.Pull.Number)}
	case indexOf(strings.Trim(next, ",")) >= 0: // the second story would be ignored
		return Decision{Refuse: fmt.Sprintf("One story at a time: `/ralph retry %s`, "+
			"and the next once that has ended.", ids[at])}
	}
	decision.Resume.Retry = []string{ids[at]}
	return decision
}

func approve(a Request, old journal.Run) Decision {
	if !NeedsApproval(old) {
		return Decision{Refuse: "No plan waits for approval. `/ralph plan` makes one."}
	}
	return Decision{Resume: &journal.Resumed{
		Why:      "the plan was approved by " + a.Asker,
		Words:    a.Words,
		Approved: cmp.Or(a.Asker, "somebody"),
	}}
}

func askedBy(a Request) string { return strings.TrimSuffix("requested by "+a.Asker, " by ") }

// isFinished reports whether a run has nothing left to do. A run with a merge conflict or an unready pull request is
// unfinished.
func isFinished(run journal.Run) bool {
	return run.IsCompleted() && run.Merging.Parted == nil && !mayBeReady(run)
}

func isDone(run journal.Run) bool {
	return run.Stop != nil && run.Stop.Reason == policy.AllStoriesPassed && IsWorkProven(run)
}

const maxPlanAttempts = 2

// NeedsPlan reports whether an agent still has to make a plan of the task.
func NeedsPlan(run journal.Run) bool {
	if !run.Planning.Vague || run.Planning.Asked != "" {
		return false
	}
	return len(run.Planning.Misplans) < maxPlanAttempts && len(run.Iterations) == 0
}

// NeedsApproval reports whether a person still has to approve the plan, once there is one.
func NeedsApproval(run journal.Run) bool {
	if run.ID == "" || !run.Policy.Approval {
		return false
	}
	if run.Planning.Approved != "" || run.Planning.Asked != "" {
		return false
	}
	return !NeedsPlan(run)
}

// HasRules reports whether rules are those of an older run. Given approval does not count, nor whether GitHub can save
// a run.
func HasRules(old journal.Run, p policy.Policy) bool {
	p.Approval = p.Approval || old.Planning.Approved != ""
	p.SaveRun = old.Policy.SaveRun
	current, err := json.Marshal(p)
	if err != nil {
		return false
	}
	before, err := json.Marshal(old.Policy.Configured())
	if err != nil {
		return false
	}
	return bytes.Equal(current, before)
}

// RenewPolicy returns the current rules for a run that began under others. It keeps the base's and the plan's checks,
// the need for approval, a requested draft, and the limits and model that a plan's requester chose, if still offered.
func RenewPolicy(p policy.Policy, old journal.Run, chosen bool, offered func(model string) bool) policy.Policy {
	before := old.Policy
	isAdded := func(c policy.Check) bool { return c.Added }
	checks := slices.DeleteFunc(slices.Clone(p.Checks), isAdded)
	if len(checks) == 0 {
		checks = slices.DeleteFunc(slices.Clone(before.Checks), isAdded)
	}
	for _, check := range before.Checks {
		if check.Added {
			checks = append(checks, check)
		}
	}
	p.Checks = checks
	p.Approval = p.Approval || before.Approval
	p.Draft = p.Draft || before.Draft
	if !NeedsApproval(old) {
		return p
	}
	p.Limits = p.Limits.Min(before.Limits)
	if !chosen {
		_, p = trigger.Command{Flags: trigger.Flags{Model: before.Model}}.Tighten(p, offered)
	}
	return p
}
