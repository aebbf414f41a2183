// Package hook answers the hooks of an agent. It reads a hook's standard input,
// applies the rules of other packages, and answers on standard output. On errors,
// hooks that advise allow the agent to continue, and hooks that protect refuse.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// The names of the hooks on the command line.
const (
	SessionStart = "session-start"
	PreToolUse   = "pre-tool-use"
	PostToolUse  = "post-tool-use"
	Stop         = "stop"
)

// Names returns the hooks, in the order in which a session calls them.
func Names() []string { return []string{SessionStart, PreToolUse, PostToolUse, Stop} }

// Environment has the hooks' access to the machine.
type Environment struct {
	Env   func(string) string
	Now   func() time.Time
	Pause func(time.Duration)
	State string // the folder for data about sessions; can be empty
	// Settings returns the project's protected paths, as globs.
	Settings func(project string) (protect []string, err error)
	// Dirty lists uncommitted files without ralph's own.
	Dirty func(ctx context.Context, project string) ([]string, error)
	Hide  func([]byte) []byte // removes secrets from what is written
	Veil  func(io.Writer) io.WriteCloser
	// Checks returns the checks of the project's settings. RunCheck runs one for a loop.
	Checks   func(project string) ([]policy.Check, error)
	RunCheck func(context.Context, process.Command) (process.Result, error)
}

// Serve answers one hook. It returns no error: a hook must never break the agent.
func (d Environment) Serve(ctx context.Context, name string, stdin io.Reader, stdout io.Writer) {
	in, err := read(stdin)
	var reply answer
	switch {
	case err != nil && name == PreToolUse:
		reply = deny(fmt.Sprintf(
			"Blocked by ralph's guard: it could not read the request (%v). Try again in another form.", err))
	case err != nil:
		reply = tellUser(fmt.Sprintf("ralph: the %s hook cannot read its input: %v", name, err))
	default:
		reply = d.answer(ctx, name, in)
	}
	if reply == (answer{}) {
		return
	}
	// A failed write means that the agent has ended.
	out := json.NewEncoder(stdout)
	out.SetEscapeHTML(false)
	_ = out.Encode(reply)
}

// answer calls the hook and recovers from panics. Otherwise the program would end with exit
// code 2, which prevents an agent from stopping.
func (d Environment) answer(ctx context.Context, name string, in input) (reply answer) {
	defer func() {
		if panicked := recover(); panicked != nil {
			reply = tellUser(fmt.Sprintf("ralph: the %s hook crashed: %v", name, panicked))
			if name == PreToolUse {
				reply = deny(fmt.Sprintf("Blocked: ralph's guard crashed (%v). Try again in another form.", panicked))
			}
		}
	}()
	switch name {
	case SessionStart:
		return d.startSession(in)
	case PreToolUse:
		return d.checkTool(in)
	case PostToolUse:
		return d.contextAdvice(in)
	case Stop:
		return d.stop(ctx, in)
	}
	return tellUser("ralph: unknown hook " + name)
}

func (d Environment) startSession(in input) answer {
	s, err := openSession(d.State, in.Session)
	if err != nil {
		return tellUser(fmt.Sprintf("ralph: no warnings about the context in this session: %v", err))
	}
	defer s.close()
	s.sessionData = sessionData{Loop: s.Loop}
	return answer{}
}

// maxInput is more than any hook's input, which can contain whole files.
const maxInput = 32 << 20

type input struct {
	Session        string    `json:"session_id"`
	Transcript     string    `json:"transcript_path"`
	Dir            string    `json:"cwd"`
	StopHookActive bool      `json:"stop_hook_active"` // a hook has already prevented the agent from stopping
	LastMessage    string    `json:"last_assistant_message"`
	Tool           string    `json:"tool_name"`
	ToolInput      toolInput `json:"tool_input"`
}

type toolInput struct {
	Command  command `json:"command"`
	Input    string  `json:"input"` // a patch
	File     string  `json:"file_path"`
	Notebook string  `json:"notebook_path"`
}

// UnmarshalJSON ignores values of other types, which unknown tools can have.
func (g *toolInput) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("{")) {
		return nil
	}
	type plain toolInput
	err := json.Unmarshal(data, (*plain)(g))
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil // checkTool reports a missing value
	}
	return err
}

type command struct {
	Line  string
	Words []string
}

// UnmarshalJSON accepts a line or a list of words.
func (c *command) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, &c.Words)
	}
	return json.Unmarshal(data, &c.Line)
}

func read(from io.Reader) (input, error) {
	var in input
	data, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	switch {
	case err != nil:
		return in, err
	case len(data) > maxInput:
		return in, fmt.Errorf("it is larger than %d MiB", maxInput>>20)
	case len(bytes.TrimSpace(data)) == 0:
		return in, errors.New("it is empty")
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return input{}, fmt.Errorf("it is not input for a hook: %w", err)
	}
	return in, nil
}

type answer struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"systemMessage,omitempty"` // for the person, not the agent
	Specific any    `json:"hookSpecificOutput,omitempty"`
}

type permission struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision"`
	Reason   string `json:"permissionDecisionReason"`
}

type advice struct {
	Event string `json:"hookEventName"`
	More  string `json:"additionalContext"`
}

func deny(why string) answer {
	if why == "" {
		return answer{}
	}
	return answer{Specific: permission{"PreToolUse", "deny", why}}
}

func block(why, message string) answer {
	return answer{Decision: "block", Reason: why, Message: message}
}

func tellUser(message string) answer { return answer{Message: message} }
