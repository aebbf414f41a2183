package action

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/trigger"
)

// Explained is what an event means here.
type Explained struct {
	Trigger string       `json:"trigger"` // the event with its action, as workflows name them
	Kind    trigger.Verb `json:"kind"`    // what it asks for; empty: nothing
	Why     string       `json:"why"`
	// NeedsPermissionOf is whom GitHub is asked about before anything is done;
	// empty where nobody is.
	NeedsPermissionOf string `json:"needs_permission_of"`
}

// Explain says what the event means, and does nothing: nobody is asked for
// anything, so whether that person may is left open.
func (a Action) Explain() (Explained, error) {
	v := a.visit()
	v.env = environment{
		EventName: a.Getenv("GITHUB_EVENT_NAME"), EventPath: a.Getenv("GITHUB_EVENT_PATH"),
		Repository: a.Getenv("GITHUB_REPOSITORY"), Actor: a.Getenv("GITHUB_ACTOR"), Workspace: cmp.Or(a.Getenv("GITHUB_WORKSPACE"), "."),
	}
	if err := v.readInputs(); err != nil {
		return Explained{}, err
	}
	if err := v.readEvent(); err != nil {
		return Explained{}, err
	}
	said := Explained{Trigger: v.trigger.Event}
	if v.trigger.Action != "" {
		said.Trigger += "." + v.trigger.Action
	}
	if said.Why = v.wanted(); said.Why != "" {
		return said, nil
	}
	v.tighten()
	said.Kind, said.Why = v.command.Verb, "it is for ralph"
	if why := misunderstood(v.command); why != "" {
		said.Why = why
	}
	if asker := v.trigger.Asker(); !v.inputs.Rules.Vouches(asker) {
		said.NeedsPermissionOf = asker.Login
	}
	return said, nil
}
