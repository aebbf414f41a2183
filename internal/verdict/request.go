package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// Request is what somebody asks of a task that may have been worked on before.
type Request struct {
	Verb       trigger.Verb
	Story      string // that is to be worked on again
	Words      string
	Asker      string
	SameTask   bool   // the task and the rules are those of the newest run
	JobURL     string // the page of the job that asks
	Number     int    // the number of the issue or pull request; 0: it has none
	BusyJobURL string // the page of another job that is at work on the task; empty where none is
	Distrust   string // why nothing of the newest run is believed
	// Unseen says that the progress comment does not show the plan which is approved.
	PlanHidden bool
	// Stands is the pull request that holds the newest run's work just as it was
	// left, proven; empty where there is none.
	ProvenPull string
}

// Decision is how that is gone about: by a new run, by going on with the newest one,
// or not at all.
type Decision struct {
	Resume   *journal.Resumed
	Refuse   string // why neither is done
	ShowPlan bool   // the plan has to be shown again
}

// planChanged is the answer to an approval of a plan that the comment did not show.
const planChanged = "The progress comment no longer showed this plan: it had been changed. " +
	"It shows the plan again: read it, and comment `/ralph approve`."

// Decide is the way, given the newest run of the task; one without a name is
// none.
func Decide(a Request, old journal.Run) Decision {
	if a.BusyJobURL != "" {
		return Decision{Refuse: busyMessage(a)}
	}
	switch way := decideIdle(a, old); {
	case way.Refuse != "" && a.Distrust != "":
		return Decision{Refuse: "Sorry, " + a.Distrust + ", so the run cannot continue. `/ralph` judges the work on its branch again."}
	case way.Refuse == "" && a.PlanHidden: // many may edit it, and what is approved is what people read
		return Decision{Refuse: planChanged, ShowPlan: true}
	default:
		return way
	}
}

// busyMessage is said while another job is at work on the same.
func busyMessage(a Request) string {
	if a.Number == 0 {
		return "a job is at work on this already: " + a.BusyJobURL + ". Cancel that, or wait for it; then ask again."
	}
	return fmt.Sprintf("[A job](%s) is at work on this already. `/ralph stop` ends it; then ask again.", a.BusyJobURL)
}

// decideIdle is the way where nothing stands in it.
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
	if a.SameTask && a.ProvenPull != "" && a.Verb == trigger.Run {
		return Decision{Refuse: fmt.Sprintf("This is done: %s is as ralph left it, and every story is proven. "+
			"Ask for more with `/ralph -- your words`; `/ralph retry %s` repeats a story.", a.ProvenPull, old.Plan.UserStories[0].ID)}
	}
	return Decision{}
}

// whyResume is why a run that is simply asked for is the newest one: it is
// unfinished, or stopped short, and would not stop where it did. Words or rules
// that are new would be lost on it.
func whyResume(a Request, old journal.Run) string {
	switch {
	case old.ID == "" || !a.SameTask || a.Verb == trigger.Plan:
		return ""
	case old.Stop == nil:
		return "an earlier job ended before the run did"
	case a.JobURL != "" && a.JobURL == old.Links.Log: // killed before it could say how it ended
		return "it was asked for again"
	case isFinished(old) || old.Stop.Reason == policy.VerificationFailed:
		return ""
	}
	return "it was asked for again"
}

// planUnapproved answers a command that would work on a plan without approval.
const planUnapproved = "The plan has not been approved yet. `/ralph approve` starts the work."

func resume(a Request, old journal.Run) Decision {
	if old.ID == "" || isFinished(old) {
		return Decision{Refuse: "There is no unfinished run to continue. `/ralph` starts one."}
	}
	if NeedsApproval(old) {
		return Decision{Refuse: planUnapproved}
	}
	return Decision{Resume: &journal.Resumed{Why: askedBy(a), Words: a.Words}}
}

func retry(a Request, old journal.Run) Decision {
	if old.ID == "" {
		return Decision{Refuse: "There is no run to retry. `/ralph` starts one."}
	}
	if NeedsApproval(old) {
		return Decision{Refuse: planUnapproved}
	}
	resumed := &journal.Resumed{Why: askedBy(a), Words: a.Words}
	if a.Story == "" {
		return Decision{Resume: resumed}
	}
	var ids []string
	for _, story := range old.Plan.UserStories {
		ids = append(ids, story.ID)
	}
	called := func(word string) int {
		return slices.IndexFunc(ids, func(id string) bool { return strings.EqualFold(id, word) })
	}
	more := append(strings.Fields(a.Words), "")[0]
	switch at := called(a.Story); {
	case at < 0:
		return Decision{Refuse: fmt.Sprintf("There is no such story here. There are: %s.", strings.Join(ids, ", "))}
	case called(strings.Trim(more, ",")) >= 0: // to do the first alone would be to lose the other
		return Decision{Refuse: fmt.Sprintf("One story at a time: `/ralph retry %s`, and the next once that has ended.", ids[at])}
	default:
		resumed.Retry = []string{ids[at]}
	}
	return Decision{Resume: resumed}
}

func approve(a Request, old journal.Run) Decision {
	if !NeedsApproval(old) {
		return Decision{Refuse: "No plan waits for approval. `/ralph plan` makes one."}
	}
	return Decision{Resume: &journal.Resumed{Why: "the plan was approved by " + a.Asker, Words: a.Words, Approved: cmp.Or(a.Asker, "somebody")}}
}

func askedBy(a Request) string { return strings.TrimSuffix("it was asked for by "+a.Asker, " by ") }

// isFinished tells of a run that is done, and not only as far as it could be: one whose
// base contradicted it, or whose pull request could not be made ready, may be gone
// on with once a person has had a look.
func isFinished(run journal.Run) bool {
	unready := IsWorkProven(run) && run.Pull != nil && run.Pull.Draft && !run.Policy.Draft && !run.FoundDraft
	return run.Completed() && run.Parted == nil && !unready
}

// maxPlanAttempts is how often an agent may try to make a plan.
const maxPlanAttempts = 2

// NeedsPlan tells whether an agent has still to make a plan of what was asked.
func NeedsPlan(run journal.Run) bool {
	return run.Vague && run.Asked == "" && len(run.Misplans) < maxPlanAttempts && len(run.Iterations) == 0
}

// NeedsApproval tells whether a person still has to approve the plan. A plan that
// is not made yet cannot be approved.
func NeedsApproval(run journal.Run) bool {
	return run.ID != "" && run.Policy.Approval && run.Approved == "" && run.Asked == "" && !NeedsPlan(run)
}
