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

// Asked is what somebody asks of a task that may have been worked on before.
type Asked struct {
	Verb  trigger.Verb
	Story string // that is to be worked on again
	Words string
	By    string
	Same  bool   // the task and the rules are those of the newest run
	Job   string // the page of the job that asks
	Task  int    // the number of the issue or pull request; 0: it has none
	Busy  string // the page of another job that is at work on the task; empty where none is
	Doubt string // why nothing of the newest run is believed
	// Unseen says that the progress comment does not show the plan which is approved.
	Unseen bool
	// Stands is the pull request that holds the newest run's work just as it was
	// left, proven; empty where there is none.
	Stands string
}

// Way is how that is gone about: by a new run, by going on with the newest one,
// or not at all.
type Way struct {
	GoOn   *journal.Resumed
	Refuse string // why neither is done
	Show   bool   // the plan has to be shown again
}

// changed is the answer to an approval of a plan that the comment did not show.
const changed = "The progress comment no longer showed this plan: it had been changed. " +
	"It shows the plan again: read it, and comment `/ralph approve`."

// Answer is the way, given the newest run of the task; one without a name is
// none.
func Answer(a Asked, old journal.Run) Way {
	if a.Busy != "" {
		return Way{Refuse: occupied(a)}
	}
	switch way := about(a, old); {
	case way.Refuse != "" && a.Doubt != "":
		return Way{Refuse: "Sorry, " + a.Doubt + ", so the run cannot continue. `/ralph` judges the work on its branch again."}
	case way.Refuse == "" && a.Unseen: // many may edit it, and what is approved is what people read
		return Way{Refuse: changed, Show: true}
	default:
		return way
	}
}

// occupied is said while another job is at work on the same.
func occupied(a Asked) string {
	if a.Task == 0 {
		return "a job is at work on this already: " + a.Busy + ". Cancel that, or wait for it; then ask again."
	}
	return fmt.Sprintf("[A job](%s) is at work on this already. `/ralph stop` ends it; then ask again.", a.Busy)
}

// about is the way where nothing stands in it.
func about(a Asked, old journal.Run) Way {
	switch a.Verb {
	case trigger.Resume:
		return resume(a, old)
	case trigger.Retry:
		return retry(a, old)
	case trigger.Approve:
		return approve(a, old)
	case trigger.Run, trigger.Plan, trigger.Help, trigger.Stop, trigger.Status, trigger.Prove, trigger.Update:
	}
	if why := goesOn(a, old); why != "" {
		return Way{GoOn: &journal.Resumed{Why: why}}
	}
	if a.Same && a.Stands != "" && a.Verb == trigger.Run {
		return Way{Refuse: fmt.Sprintf("This is done: %s is as ralph left it, and every story is proven. "+
			"Ask for more with `/ralph -- your words`; `/ralph retry %s` repeats a story.", a.Stands, old.Plan.UserStories[0].ID)}
	}
	return Way{}
}

// goesOn is why a run that is simply asked for is the newest one: it is
// unfinished, or stopped short, and would not stop where it did. Words or rules
// that are new would be lost on it.
func goesOn(a Asked, old journal.Run) string {
	switch {
	case old.ID == "" || !a.Same || a.Verb == trigger.Plan:
		return ""
	case old.Stop == nil:
		return "an earlier job ended before the run did"
	case a.Job != "" && a.Job == old.Links.Log: // killed before it could say how it ended
		return "it was asked for again"
	case over(old) || old.Stop.Reason == policy.VerificationFailed:
		return ""
	}
	return "it was asked for again"
}

// unapproved answers a command that would work on a plan without approval.
const unapproved = "The plan has not been approved yet. `/ralph approve` starts the work."

func resume(a Asked, old journal.Run) Way {
	if old.ID == "" || over(old) {
		return Way{Refuse: "There is no unfinished run to continue. `/ralph` starts one."}
	}
	if Unapproved(old) {
		return Way{Refuse: unapproved}
	}
	return Way{GoOn: &journal.Resumed{Why: by(a), Words: a.Words}}
}

func retry(a Asked, old journal.Run) Way {
	if old.ID == "" {
		return Way{Refuse: "There is no run to retry. `/ralph` starts one."}
	}
	if Unapproved(old) {
		return Way{Refuse: unapproved}
	}
	resumed := &journal.Resumed{Why: by(a), Words: a.Words}
	if a.Story == "" {
		return Way{GoOn: resumed}
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
		return Way{Refuse: fmt.Sprintf("There is no such story here. There are: %s.", strings.Join(ids, ", "))}
	case called(strings.Trim(more, ",")) >= 0: // to do the first alone would be to lose the other
		return Way{Refuse: fmt.Sprintf("One story at a time: `/ralph retry %s`, and the next once that has ended.", ids[at])}
	default:
		resumed.Retry = []string{ids[at]}
	}
	return Way{GoOn: resumed}
}

func approve(a Asked, old journal.Run) Way {
	if !Unapproved(old) {
		return Way{Refuse: "No plan waits for approval. `/ralph plan` makes one."}
	}
	return Way{GoOn: &journal.Resumed{Why: "the plan was approved by " + a.By, Words: a.Words, Approved: cmp.Or(a.By, "somebody")}}
}

func by(a Asked) string { return strings.TrimSuffix("it was asked for by "+a.By, " by ") }

// over tells of a run that is done, and not only as far as it could be: one whose
// base contradicted it, or whose pull request could not be made ready, may be gone
// on with once a person has had a look.
func over(run journal.Run) bool {
	unready := Sound(run) && run.Pull != nil && run.Pull.Draft && !run.Policy.Draft && !run.FoundDraft
	return run.Completed() && run.Parted == nil && !unready
}

// mostPlans is how often an agent may try to make a plan.
const mostPlans = 2

// Unplanned tells whether an agent has still to make a plan of what was asked.
func Unplanned(run journal.Run) bool {
	return run.Vague && run.Asked == "" && len(run.Misplans) < mostPlans && len(run.Iterations) == 0
}

// Unapproved tells whether a person still has to approve the plan. A plan that
// is not made yet cannot be approved.
func Unapproved(run journal.Run) bool {
	return run.ID != "" && run.Policy.Approval && run.Approved == "" && run.Asked == "" && !Unplanned(run)
}
