// Package hook is the way in for an agent's own hooks. It reads what the agent
// says on a hook's stdin, asks the rules, and answers on stdout. It decides
// nothing itself, and never breaks an agent: what only advises stays silent
// when it cannot tell, what guards says no.
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/guard"
)

// The hooks there are, by the names that the command line has for them.
const (
	SessionStart = "session-start"
	PreToolUse   = "pre-tool-use"
	PostToolUse  = "post-tool-use"
	Stop         = "stop"
)

// Names are the hooks, in the order in which a session meets them.
func Names() []string { return []string{SessionStart, PreToolUse, PostToolUse, Stop} }

// Door is what the hooks need of the machine.
type Door struct {
	Env   func(string) string
	Now   func() time.Time
	Pause func(time.Duration)
	State string // the folder for what is known of sessions; empty: there is none
	Guard Guard
	// Settings gives the project's own protected paths, as globs, and rules.
	Settings func(project string) (protect []string, rules []guard.Rule, err error)
	// Dirty lists what is not committed, ralph's own files aside.
	Dirty func(ctx context.Context, project string) ([]string, error)
	Hide  func([]byte) []byte // takes secrets out of what is written down
}

// Serve answers one hook. It gives no error: an agent must never be broken by
// its hooks.
func (d Door) Serve(ctx context.Context, name string, stdin io.Reader, stdout io.Writer) {
	in, err := read(stdin)
	var said answer
	switch {
	case err != nil && name == PreToolUse:
		said = deny(fmt.Sprintf("ralph's guard could not read what is to be done (%v), and so it is not allowed. Try it again in another form.", err))
	case err != nil:
		said = note(fmt.Sprintf("ralph: the %s hook got no input that it can read: %v", name, err))
	default:
		said = d.answer(ctx, name, in)
	}
	if said == (answer{}) {
		return
	}
	// An agent that does not listen any more has nothing to be told.
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	_ = out.Encode(said)
}

// answer asks the hook. One that falls over must not end the agent's session,
// nor let through what it was to judge: an exit code of 2, which a panic ends
// with, keeps an agent from stopping.
func (d Door) answer(ctx context.Context, name string, in input) (said answer) {
	defer func() {
		if wrong := recover(); wrong != nil {
			said = note(fmt.Sprintf("ralph: the %s hook fell over: %v", name, wrong))
			if name == PreToolUse {
				said = deny(fmt.Sprintf("ralph's guard fell over (%v), and so this is not allowed. Try it again in another form.", wrong))
			}
		}
	}()
	switch name {
	case SessionStart:
		return d.begin(in)
	case PreToolUse:
		return d.guard(in)
	case PostToolUse:
		return d.watch(in)
	case Stop:
		return d.stop(ctx, in)
	}
	return note("ralph: there is no hook " + name)
}

// begin arms the warnings of a session anew.
func (d Door) begin(in input) answer {
	m, err := openMarks(d.State, in.Session)
	if err != nil {
		return note(fmt.Sprintf("ralph: the context is not watched in this session: %v", err))
	}
	defer m.close()
	if err := errors.Join(m.clear("context-"), m.clear("stop-"), m.clear("said-")); err != nil {
		return note(fmt.Sprintf("ralph: the warnings of the last session could not be taken back: %v", err))
	}
	prune(d.State, d.Now())
	return answer{}
}
