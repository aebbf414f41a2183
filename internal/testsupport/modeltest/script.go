package modeltest

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Always is a Times without end.
const Always = math.MaxInt

// Answer is what the model does when it is asked once.
type Answer struct {
	Words string
	Calls []Call       // after the words
	Usage stream.Usage // nothing stands for Usual

	Status     int           // an HTTP error, in the place of words and calls
	RetryAfter time.Duration // said with the error, in whole seconds
	Times      int           // how often in a row; 0 is once

	Stall bool // nothing is said until the asker goes
	Cut   bool // the connection ends in the middle of it
}

// Usual is what an Answer uses that does not say.
var Usual = stream.Usage{Input: 1000, Output: 80, CacheRead: 200}

// Call is a tool call. Input is anything that makes a JSON object, or a text
// for a tool that takes one.
type Call struct {
	Tool  string
	Input any
	shell string
}

// Shell calls the tool of the asker that runs commands.
func Shell(command string) Call { return Call{shell: command} }

// shells are the CLIs' tools that run a command, and how each is asked. Without
// a time, Codex lets go of a command after ten seconds and calls it background.
// With its newest models all it has is one tool that takes a script.
var shells = map[string]func(command string) any{
	"Bash":              described, // claude
	"bash":              described, // opencode, copilot
	"run_shell_command": described, // gemini
	"exec_command": func(command string) any { // codex
		return map[string]any{"cmd": command, "yield_time_ms": 30_000}
	},
	"exec": func(command string) any {
		quoted, _ := json.Marshal(command) // as JavaScript quotes, too
		return fmt.Sprintf("text(await tools.exec_command({cmd: %s, yield_time_ms: 30000}))", quoted)
	},
}

func described(command string) any {
	return map[string]any{"command": command, "description": "a scripted command"}
}

// turn is an Answer on its way to one asker.
type turn struct {
	id    string
	model string
	words string
	calls []toolCall
	usage stream.Usage
}

type toolCall struct {
	id, name string
	input    json.RawMessage
	custom   string // the input of a tool that takes a text, not JSON
}

// turn makes the answer what this asker can take.
func (r Request) turn(a Answer, n int) turn {
	t := turn{id: fmt.Sprintf("turn%d", n), model: r.Model, words: a.Words, usage: a.Usage}
	if t.usage == (stream.Usage{}) {
		t.usage = Usual
	}
	for i, call := range a.Calls {
		if call.shell != "" {
			call.Tool, call.Input = r.shell.Name, shells[r.shell.Name](call.shell)
		}
		input, err := json.Marshal(call.Input)
		if err != nil {
			panic(fmt.Sprintf("modeltest: the input of %s: %v", call.Tool, err)) // the test's own slip
		}
		custom, _ := call.Input.(string)
		t.calls = append(t.calls, toolCall{id: fmt.Sprintf("call_%d_%d", n, i+1), name: call.Tool, input: input, custom: custom})
	}
	return t
}

// pieces is text as it streams: in two pieces at least, so that no reader can
// rely on a whole tag in one of them.
func pieces(text string) []string {
	runes := []rune(text)
	size := min(max((len(runes)+1)/2, 1), 1024)
	var all []string
	for ; len(runes) > size; runes = runes[size:] {
		all = append(all, string(runes[:size]))
	}
	return append(all, string(runes))
}
