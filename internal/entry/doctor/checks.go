package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// Checks are those of a run, and what they are worth before any work.
type Checks struct {
	Base   string    `json:"base"`   // the commit
	Tried  bool      `json:"tried"`  // else they were only looked for
	Usable bool      `json:"usable"` // they can prove work, as far as is known
	Setup  []string  `json:"setup"`
	Checks []Finding `json:"checks"`

	Planned   bool     `json:"-"` // there is a PRD
	Given     []string `json:"-"` // commands of flags
	suggested bool     // by the project's files, and not configured
}

// LookAtChecks returns the checks of a run, which has tried them at its base or not.
func LookAtChecks(run journal.Run) Checks {
	all := Checks{Base: run.Base, Setup: []string{}, Checks: []Finding{}, Usable: len(run.Policy.Checks) > 0}
	for _, command := range run.Policy.Setup {
		all.Setup = append(all.Setup, command.Command)
	}
	var gap string // of all
	if !all.Usable {
		gap = "no checks are configured"
	}
	if run.Baseline != nil {
		all.Tried = true
		all.Usable = run.Baseline.Usable
		gap = cmp.Or(gap, run.Baseline.Why)
	}
	for _, rule := range run.Policy.Checks {
		base := ending.AtBase(run, rule.Name)
		f := Finding{What: rule.Name, State: cmp.Or(base.Note, base.State), Gap: base.Gap, Remedy: base.Remedy}
		if base.State != notTried {
			gap = "" // the checks show it themselves
			if rule.Detected && base.Note == "" {
				f.State += "; suggested by the project's files"
			}
		}
		if rule.Detected && !run.Policy.Publish {
			all.suggested = true
		}
		all.Checks = append(all.Checks, f)
	}
	if gap != "" {
		all.Checks = append(all.Checks, Finding{Gap: gap, Remedy: ending.BaseRemedy(run)})
	}
	return all
}

// NoChecks returns why they could not even be looked for.
func NoChecks(err error) Checks {
	return Checks{Setup: []string{}, Checks: []Finding{{Gap: err.Error(), Remedy: fault.Hint(err)}}}
}

// Text returns what was found, for people.
func (c Checks) Text() string {
	text := Text("checks"+c.heading(), c.Checks)
	if c.suggested {
		text += "       hint: ralph init writes them into .ralph/settings.json, which ralph loop needs\n"
	}
	if c.Usable && !c.Tried {
		text += "       ralph doctor --checks runs them on a clean checkout\n"
	}
	return text
}

func (c Checks) heading() string {
	switch {
	case c.Base == "":
		return ""
	case !c.Tried && c.suggested:
		return ", suggested by the project's files"
	case !c.Tried:
		return " of a run here"
	}
	text := fmt.Sprintf(" on a clean checkout of %.12s", c.Base)
	if len(c.Setup) > 0 {
		text += ", after " + strings.Join(c.Setup, ", ")
	}
	return text
}

// Next returns the command that these checks are for.
func (c Checks) Next() string {
	var flags strings.Builder
	for _, command := range c.Given {
		flags.WriteString(" --check " + shell.Quote(command))
	}
	switch {
	case c.Planned:
		return "ralph run" + flags.String()
	case c.suggested:
		return "ralph init"
	}
	return `ralph loop "Add a test that is missing"` + flags.String()
}
