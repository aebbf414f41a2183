package doctor

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// Checks are what a run would be judged by, and what it is worth before any work.
type Checks struct {
	Base   string   `json:"base"`  // the commit
	Tried  bool     `json:"tried"` // else they were only looked for
	Usable bool     `json:"usable"`
	Why    string   `json:"why"` // what limits that
	Remedy string   `json:"remedy,omitempty"`
	Setup  []string `json:"setup"`
	Checks []Check  `json:"checks"`

	Planned   bool     `json:"-"` // there is a PRD
	Given     []string `json:"-"` // commands of flags
	suggested bool     // by the project's files, and not configured
}

// Check is one of them.
type Check struct {
	Name     string         `json:"name"`
	Command  string         `json:"command"`
	Detected bool           `json:"detected"` // suggested by the project's files
	State    string         `json:"state"`
	Passed   bool           `json:"passed"`
	Exit     int            `json:"exit"`
	Tests    *journal.Tests `json:"tests,omitempty"`
	Gap      string         `json:"gap,omitempty"` // why it can prove nothing
	Remedy   string         `json:"remedy,omitempty"`
	Note     string         `json:"note,omitempty"`
}

// LookAtChecks returns the checks of a run, which has tried them at its base or not.
func LookAtChecks(run journal.Run) Checks {
	all := Checks{Base: run.Base, Tried: run.Baseline != nil, Setup: []string{}, Checks: []Check{}}
	if all.Tried {
		all.Usable, all.Why = run.Baseline.Usable, run.Baseline.Why
	}
	if len(run.Policy.Checks) == 0 {
		all.Why = "no checks are configured"
	}
	if all.Why != "" {
		all.Remedy = ending.BaseRemedy(run)
	}
	for _, command := range run.Policy.Setup {
		all.Setup = append(all.Setup, command.Command)
	}
	for _, rule := range run.Policy.Checks {
		result, _ := run.BaseCheck(rule.Name)
		base := ending.AtBase(run, rule.Name)
		if rule.Detected && !run.Policy.Publish {
			all.suggested = true
		}
		all.Checks = append(all.Checks, Check{
			Name:     rule.Name,
			Command:  rule.Command,
			Detected: rule.Detected,
			State:    base.State,
			Passed:   result.Passed,
			Exit:     result.Exit,
			Tests:    result.Tests,
			Gap:      base.Gap,
			Remedy:   base.Remedy,
			Note:     base.Note,
		})
	}
	return all
}

// NoChecks returns why they could not even be looked for.
func NoChecks(err error, remedy string) Checks {
	return Checks{Why: err.Error(), Remedy: remedy, Setup: []string{}, Checks: []Check{}}
}

// Text returns what was found, for people.
func (c Checks) Text() string {
	var b strings.Builder
	b.WriteString("checks" + c.heading() + "\n")
	anyTried := false // a check that was tried shows the reason itself
	for _, check := range c.Checks {
		b.WriteString(entry(c.mark(check), check.Name+": "+check.result(), check.Remedy))
		anyTried = anyTried || check.State != "not tried"
	}
	if c.Why != "" && !anyTried {
		b.WriteString(entry(mark(false), c.Why, c.Remedy))
	}
	if c.suggested {
		b.WriteString("       hint: ralph init writes them into .ralph/settings.json, which ralph loop needs\n")
	}
	if !c.Tried && len(c.Checks) > 0 {
		b.WriteString("       ralph doctor --checks runs them on a clean checkout\n")
	}
	return b.String()
}

// Next returns the command that these checks are for.
func (c Checks) Next() string {
	var all strings.Builder
	for _, command := range c.Given {
		all.WriteString(" --check " + shell.Quote(command))
	}
	flags := all.String()
	switch {
	case c.Planned:
		return "ralph run" + flags
	case c.suggested:
		return "ralph init"
	}
	return `ralph loop "Add a test that is missing"` + flags
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

func (c Checks) mark(check Check) string {
	if !c.Tried {
		return "?   "
	}
	return mark(check.Gap == "" && check.State != "not tried")
}

func (c Check) result() string {
	switch {
	case c.Gap != "":
		return c.Gap
	case c.Note != "":
		return c.Note
	case c.Detected && c.State != "not tried":
		return c.State + "; suggested by the project's files"
	}
	return c.State
}
