package doctor

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
)

// Sandbox is what this machine offers to confine an agent.
type Sandbox struct {
	Level  sandbox.Level `json:"level"`            // that was asked for, or the strongest that works
	Gap    string        `json:"gap,omitempty"`    // why it does not hold
	Remedy string        `json:"remedy,omitempty"` // towards a stronger level
	Levels []Finding     `json:"levels"`           // that were tried, the strongest first
}

// remedies are ways to a stronger level.
var remedies = map[sandbox.Level]string{
	sandbox.Notify: "a stronger level adds only servers and UDP on loopback: " +
		"run as root with CAP_SYS_ADMIN and CAP_NET_ADMIN, or allow user namespaces",
	sandbox.None: "use Linux 5.19 or later with seccomp user notification and Landlock (lsm=landlock), " +
		"as a stock container has, or allow user namespaces; on macOS a run uses Docker's sandbox",
}

// LookAtSandbox tries the levels of this machine, and the one that is asked for.
func LookAtSandbox(ctx context.Context, sb sandbox.Config, next sandbox.Exec) Sandbox {
	s := Sandbox{Level: sandbox.None, Gap: "this machine offers no sandbox that contains the network"}
	levels := []sandbox.Level{sandbox.Namespace, sandbox.Notify}
	if sb.Level == sandbox.External {
		levels = append(levels, sandbox.External)
	}
	for _, level := range levels {
		tried := sb
		tried.Level = level
		_, _, err := tried.Strongest(ctx, next)
		f := newFinding(string(level), err)
		s.Levels = append(s.Levels, f)
		isStrongest := sb.Level == sandbox.Auto && err == nil && s.Gap != ""
		if sb.Level == level || isStrongest {
			s.Level = level
			s.Gap = f.Gap
		}
	}
	s.Remedy = remedies[s.Level]
	if s.Remedy != "" {
		s.Remedy = cmp.Or(sandbox.RemedyOfAppArmor(sandbox.UserNamespaces), s.Remedy)
	}
	return s
}

// Brief returns the level and whether it holds, in a line or two.
func (s Sandbox) Brief() string {
	text := "sandbox level " + string(s.Level) + ": " + cmp.Or(s.Gap, "tested from inside") + "\n"
	if s.Remedy != "" {
		text += "  more: " + s.Remedy + "\n"
	}
	return text
}

// Text is s for people.
func (s Sandbox) Text() string { return s.Brief() + "\n" + Text("what this machine offers", s.Levels) }
