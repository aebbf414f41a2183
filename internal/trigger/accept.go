package trigger

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Permission is what GitHub says somebody may do in the repository.
type Permission string

// GitHub's words, the mightiest first. The collaborator-permission API folds
// maintain into write and triage into read, and custom roles into their base.
const (
	Admin    Permission = "admin"
	Maintain Permission = "maintain"
	Write    Permission = "write"
	Triage   Permission = "triage"
	Read     Permission = "read"
	None     Permission = "none"
)

// MayRun tells whether p is enough to have work done: who may push may let an
// agent push. Triage may put a label on, and that starts nothing.
func (p Permission) MayRun() bool {
	switch p {
	case Admin, Maintain, Write:
		return true
	case Triage, Read, None:
		return false
	}
	return false
}

// Refusal is why nothing is done. It is an answer, not an error: a job that
// ends with one is green.
type Refusal struct {
	Why    string
	Silent bool // say it in the log alone; no reaction on GitHub
}

// Accept makes a task of what was asked, if the asker may ask it. permission
// is that of t.Asker() and is not looked at where the rules vouch for them.
// Answering help is work too: it puts a comment under somebody's issue.
func Accept(t Trigger, cmd Command, rules Rules, permission Permission) (plan.Task, *Refusal) {
	if why := cmp.Or(unfit(t, rules), t.closed(cmd)); why != "" { // an issue that the workflow names was not known before it was fetched
		return plan.Task{}, &Refusal{Why: why, Silent: true}
	}
	asker := t.Asker()
	if !rules.Vouches(asker) && !permission.MayRun() {
		return plan.Task{}, &Refusal{Why: short(asker.Login, permission)}
	}
	return t.task(cmd), nil
}

func short(login string, permission Permission) string {
	if permission == "" {
		permission = None
	}
	return fmt.Sprintf("%s needs write permission to start a run here and has %s; allow-users can name people without",
		login, permission)
}
