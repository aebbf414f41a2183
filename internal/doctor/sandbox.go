// Package doctor looks at what a run will need and tells what it does not find,
// each gap with its remedy. It mends nothing.
package doctor

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// Sandbox is what this machine offers to confine an agent.
type Sandbox struct {
	Level   string                 `json:"level"`            // the strongest that works
	Mounts  bool                   `json:"mounts"`           // with a root of its own
	Holds   bool                   `json:"holds"`            // the attack from inside failed
	Why     string                 `json:"why,omitempty"`    // what it does not hold, or why that is not known
	Remedy  string                 `json:"remedy,omitempty"` // towards a stronger level
	Parts   []sandbox.Mechanism    `json:"parts"`
	Vectors []sandbox.AttackResult `json:"vectors"` // the attempts from inside
}

// LookAtSandbox tries the mechanisms of this machine at a level, and attacks the sandbox from inside.
func LookAtSandbox(ctx context.Context, sb sandbox.Config, next sandbox.Exec) Sandbox {
	found := sandbox.Probe(ctx, sb, next)
	sb = found.Apply(sb)
	s := Sandbox{Level: string(sb.Level), Mounts: sb.Level == sandbox.Namespace, Remedy: remedies[sb.Level], Parts: found.Found}
	if sb.Level == sandbox.None {
		s.Why = "this machine offers no sandbox that contains the network"
		return s
	}
	var err error
	s.Vectors, err = attack(ctx, sb, next)
	if s.Holds = err == nil; err != nil {
		s.Why = err.Error()
	}
	return s
}

// attack is made as on a run: with a port that leads to a proxy.
func attack(ctx context.Context, sb sandbox.Config, next sandbox.Exec) ([]sandbox.AttackResult, error) {
	door, err := egress.Listen(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = door.Close() }()
	sb.Ports = map[int]netip.AddrPort{door.Port: door.At()}
	results, err := sb.Attack(ctx, next)
	if err != nil {
		return nil, err
	}
	return results, sandbox.Holds(sb.Level, results)
}

// remedies are ways to a stronger level.
var remedies = map[sandbox.Level]string{
	sandbox.Notify: "a stronger level adds only servers and UDP on loopback: run as root with CAP_SYS_ADMIN and CAP_NET_ADMIN, or allow user namespaces",
	sandbox.None:   "use Linux 5.19 or later with seccomp user notification and Landlock (lsm=landlock), as a stock container has, or allow user namespaces",
}

// Brief returns the level and whether it holds, in a line or two.
func (s Sandbox) Brief() string {
	state := "the attack from inside failed, as it should"
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
		b.WriteString(entry(mark(p.Found), p.Name+behind(p.Detail), ""))
	}
	if len(s.Vectors) > 0 {
		b.WriteString("\nattempts from inside\n")
	}
	for _, v := range s.Vectors {
		sign, outcome := mark(v.Held), v.Saw
		switch {
		case v.Held:
			outcome = v.Control
		case !v.Promised:
			sign = "open"
		}
		b.WriteString(entry(sign, v.Vector+behind(outcome), ""))
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

func behind(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// LookAtServices connects to each service once, as the beginning of a run does.
func LookAtServices(ctx context.Context, services []egress.Name) (all []Finding) {
	for _, name := range services {
		f := Finding{What: "the service " + name.String()}
		if _, err := egress.FindServices(ctx, []egress.Name{name}); err != nil {
			f.Gap, f.Remedy, f.Stops = err.Error(), fault.Hint(err), true
		}
		all = append(all, f)
	}
	return all
}
