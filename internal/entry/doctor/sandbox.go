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
	Level  string              `json:"level"`            // the strongest that works
	Mounts bool                `json:"mounts"`           // with a root of its own
	Holds  bool                `json:"holds"`            // as the check from inside found
	Why    string              `json:"why,omitempty"`    // what it does not hold, or why that is not known
	Remedy string              `json:"remedy,omitempty"` // towards a stronger level
	Parts  []sandbox.Mechanism `json:"parts"`
}

// LookAtSandbox tries the mechanisms of this machine at a level, and checks the sandbox from inside.
func LookAtSandbox(ctx context.Context, sb sandbox.Config, next sandbox.Exec) Sandbox {
	found := sandbox.Probe(ctx, sb, next)
	sb = found.Apply(sb)
	s := Sandbox{
		Level:  string(sb.Level),
		Mounts: sb.Level == sandbox.Namespace,
		Remedy: remedies[sb.Level],
		Parts:  found.Found,
	}
	if s.Remedy != "" {
		s.Remedy = cmp.Or(sandbox.RemedyOfAppArmor(sandbox.UserNamespaces), s.Remedy)
	}
	if sb.Level == sandbox.None {
		s.Why = "this machine offers no sandbox that contains the network"
		return s
	}
	if _, err := sb.Check(ctx, next); err != nil {
		s.Why = err.Error()
		return s
	}
	s.Holds = true
	return s
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
	for _, p := range s.Parts {
		b.WriteString(entry(mark(p.Found), p.Name+colon(p.Detail), ""))
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
