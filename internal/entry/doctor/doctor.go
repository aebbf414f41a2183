// Package doctor looks at what a run will need and reports what it does not find,
// each gap with its remedy. It mends nothing.
package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Finding is what was looked at, and what it came to.
type Finding struct {
	What   string   `json:"what"`
	State  string   `json:"state,omitempty"`
	Gap    string   `json:"gap,omitempty"` // what is wrong with it
	Remedy string   `json:"remedy,omitempty"`
	Stops  bool     `json:"stops"` // no run gets anywhere with it
	Notes  []string `json:"notes,omitempty"`
}

const notTried = "not tried"

// newFinding returns what a question came to. An answer that did not come is no gap.
func newFinding(what string, err error) Finding {
	switch {
	case err == nil:
		return Finding{What: what}
	case errors.Is(err, github.Unavailable) || errors.Is(err, github.RateLimited):
		return Finding{What: what, Notes: []string{"not known: " + err.Error()}}
	}
	return Finding{What: what, Gap: err.Error(), Remedy: fault.Hint(err)}
}

func (f Finding) stopped(err error) Finding {
	f.Gap = err.Error()
	f.Remedy = fault.Hint(err)
	f.Stops = true
	return f
}

// Text returns what was found, for people.
func Text(title string, found []Finding) string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, f := range found {
		b.WriteString(f.text())
	}
	return b.String()
}

func (f Finding) text() string {
	sign, result := "ok  ", f.State
	switch {
	case f.Gap != "":
		sign, result = "no  ", f.Gap
	case f.State == notTried:
		sign = "?   "
	}
	text := "  " + sign + " " + f.What
	if f.What != "" && result != "" {
		text += ": "
	}
	text += result + "\n"
	if f.Remedy != "" {
		text += "       hint: " + f.Remedy + "\n"
	}
	var notes strings.Builder
	for _, note := range f.Notes {
		notes.WriteString("       note: " + note + "\n")
	}
	return text + notes.String()
}

// LookAtServices connects to each service once, as the beginning of a run does.
func LookAtServices(ctx context.Context, services []egress.Name) []Finding {
	var all []Finding
	for _, name := range services {
		f := Finding{What: "the service " + name.String()}
		if _, err := egress.FindServices(ctx, []egress.Name{name}); err != nil {
			f = f.stopped(err)
		}
		all = append(all, f)
	}
	return all
}
