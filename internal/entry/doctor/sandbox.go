// Package doctor looks at what a run will need and reports what it does not find,
// each gap with its remedy. It mends nothing.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
)

// Sandbox is what this machine offers to confine an agent.
type Sandbox struct {
	Level  string  `json:"level"`            // that was asked for, or the strongest that works
	Holds  bool    `json:"holds"`            // as the check from inside found
	Why    string  `json:"why,omitempty"`    // what it does not hold, or why that is not known
	Remedy string  `json:"remedy,omitempty"` // towards a stronger level
	Levels []Level `json:"levels"`           // of ralph's own, the strongest first
}

// Level is a level of the sandbox that was tried.
type Level struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Why   string `json:"why,omitempty"` // it does not
}

// LookAtSandbox tries the levels of this machine, and the one that is asked for.
func LookAtSandbox(ctx context.Context, sb sandbox.Config, next sandbox.Exec) Sandbox {
	chosen := Level{Name: string(sandbox.None), Why: "this machine offers no sandbox that contains the network"}
	if sb.Level == sandbox.External {
		chosen = levelOf(ctx, sb, sb.Level, next)
	}
	var all []Level
	for _, level := range []sandbox.Level{sandbox.Namespace, sandbox.Notify} {
		tried := levelOf(ctx, sb, level, next)
		all = append(all, tried)
		isStrongest := sb.Level == sandbox.Auto && tried.Holds && !chosen.Holds
		if sb.Level == level || isStrongest {
			chosen = tried
		}
	}
	s := Sandbox{Level: chosen.Name, Holds: chosen.Holds, Why: chosen.Why, Levels: all}
	s.Remedy = remedies[sandbox.Level(s.Level)]
	if s.Remedy != "" {
		s.Remedy = cmp.Or(sandbox.RemedyOfAppArmor(sandbox.UserNamespaces), s.Remedy)
	}
	return s
}

func levelOf(ctx context.Context, sb sandbox.Config, level sandbox.Level, next sandbox.Exec) Level {
	sb.Level = level
	_, _, err := sb.Strongest(ctx, next)
	if err != nil {
		return Level{Name: string(level), Why: err.Error()}
	}
	return Level{Name: string(level), Holds: true}
}

// remedies are ways to a stronger level.
var remedies = map[sandbox.Level]string{
	sandbox.Notify: "a stronger level adds only servers and UDP on loopback: " +
		"run as root with CAP_SYS_ADMIN and CAP_NET_ADMIN, or allow user namespaces",
	sandbox.None: "use Linux 5.19 or later with seccomp user notification and Landlock (lsm=landlock), " +
		"as a stock container has, or allow user namespaces; on macOS a run uses Docker's sandbox",
}

// Brief returns the level and whether it holds, in a line or two.
func (s Sandbox) Brief() string {
	state := "tested from inside"
	if !s.Holds {
		state = s.Why
	}
	text := fmt.Sprintf("sandbox level %s: %s\n", s.Level, state)
	if s.Remedy != "" {
		text += "  more: " + s.Remedy + "\n"
	}
	return text
}

// Text is s for people.
func (s Sandbox) Text() string {
	var b strings.Builder
	b.WriteString(s.Brief())
	b.WriteString("\nwhat this machine offers\n")
	for _, level := range s.Levels {
		b.WriteString(entry(mark(level.Holds), level.Name+colon(level.Why), ""))
	}
	return b.String()
}

// entry returns a line about something that was looked at, with what to do and to know.
func entry(sign, text, hint string, notes ...string) string {
	lines := []string{"  " + sign + " " + text}
	if hint != "" {
		lines = append(lines, "       hint: "+hint)
	}
	for _, note := range notes {
		lines = append(lines, "       note: "+note)
	}
	return strings.Join(lines, "\n") + "\n"
}

func mark(good bool) string {
	if good {
		return "ok  "
	}
	return "no  "
}

// colon returns text after a colon, or nothing.
func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
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
