// Package scripted is the scripted agent: it does in a folder what a script
// says for an iteration, and prints what it does. Tests and the demo use it;
// its adapter is in internal/agent/agent.
package scripted

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// exitTerminated is what a shell says of a program that SIGTERM ended.
const exitTerminated = 143

// Stage is where a script is played: one iteration of it, in Dir.
type Stage struct {
	Name      string // of the script, for its errors
	Script    []byte
	Iteration int
	Story     string
	Dir       string
	Memory    string // folder of prd.json and progress.txt in Dir; "ralph" when empty
	Prompt    io.Reader
	Out       io.Writer
	Run       func(context.Context, process.Command) (process.Result, error)
	Env       []string
}

// Play returns the scripted agent: it does what the script has for this iteration
// and tells of it on Out, in lines of its own. The code is what the program
// should exit with. A ctx that ends is a polite signal; the script decides who
// is polite.
//
// A script is a txtar archive: its comment is its title, and the name of each
// file says when and what. "2/commit" commits in the second iteration;
// "US-001/commit" whenever that story is worked on; "*/commit" in iterations
// that have no files of their own. Of these the first that there is applies.
// Files are played in their order, and may come more than once:
//
//	1/write/a/b.txt       the content becomes that of a/b.txt
//	1/delete/a/b.txt      it is removed, folders whole
//	1/run                 a shell runs it; it may fail
//	1/spawn               a shell runs it and is left running at the end
//	1/commit              everything is committed, with this message
//	1/say                 words
//	1/promise             words in promise tags
//	1/tool                a line each: "Read: main.go => 12 lines", "=!" for a failure
//	1/todo                a line each: "[x] done", "[>] in work", "[ ] to do"
//	1/claim               a line each: "US-001: how"; the story passes in prd.json
//	1/progress            appended to progress.txt
//	1/cost                a line each: "usd: 0.25", "input: 1200", "output: 80",
//	                      "cache-read: 9", "cache-write: 9"
//	1/expect              the prompt must hold each of these lines, or the agent fails
//	1/sleep               "1.5s"
//	1/hang                until it is signalled
//	1/hang-ignoring-term  until it is killed
//	1/fail                an API error ends it: "529 Overloaded"; with "after: 5s" in
//	                      another line, its model wants to be left alone that long
//	1/exit                it ends with this exit code; unless 0, without a result
//
// An iteration that is played again leaves the same tree, no matter what a kill left
// of the first time.
func Play(ctx context.Context, stage Stage) (int, error) {
	script, err := readScript(stage.Name, stage.Script)
	if err != nil {
		return 0, err
	}
	p := &player{Stage: stage}
	if p.prompt, err = io.ReadAll(stage.Prompt); err != nil {
		return 0, fmt.Errorf("read the prompt: %w", err)
	}
	if p.root, err = os.OpenRoot(stage.Dir); err != nil {
		return 0, fmt.Errorf("open the working directory: %w", err)
	}
	defer func() { _ = p.root.Close() }()
	return p.play(ctx, script)
}

// Start plays a script as a child of ralph, which has put the iteration and the story
// into its environment.
func Start(ctx context.Context, stage Stage, getenv func(string) string) (code int, err error) {
	if stage.Script, err = os.ReadFile(stage.Name); err != nil {
		return 0, fault.Usage("cannot read the script", "name the script's file", err)
	}
	if stage.Dir, err = os.Getwd(); err != nil {
		return 0, fmt.Errorf("find the working directory: %w", err)
	}
	if stage.Iteration, err = strconv.Atoi(getenv("RALPH_ITERATION")); err != nil {
		return 0, fault.Usage("RALPH_ITERATION is not a number", "let ralph start the scripted agent", err)
	}
	stage.Story = getenv("RALPH_STORY")
	return Play(ctx, stage)
}

// player is a Stage with a play under way.
type player struct {
	Stage
	root   *os.Root
	prompt []byte
	calls  int
}

// curtain ends a play before the script does.
type curtain struct {
	code   int
	result *agent.ScriptedResult // nil: nothing is said of the end
}

// Error is never seen: a curtain does not leave Play.
func (c *curtain) Error() string { return "exit " + strconv.Itoa(c.code) }

func (p *player) play(ctx context.Context, s script) (int, error) {
	if _, err := fmt.Fprintf(p.Out, "script %s\n", s.title); err != nil { // a line that is not JSON is shown
		return 0, err
	}
	if err := p.tell(agent.ScriptedLine{}); err != nil { // it has begun
		return 0, err
	}
	end := &curtain{result: completed()}
	for _, step := range s.scene(p.Iteration, p.Story) {
		err := step.act(ctx, p)
		switch {
		case signalled(ctx):
			return exitTerminated, nil
		case errors.As(err, &end):
			return p.close(end)
		case err != nil:
			return 0, fmt.Errorf("%s: %w", step.place, err)
		}
	}
	return p.close(end)
}

func signalled(ctx context.Context) bool { return ctx.Err() != nil }

func (p *player) close(end *curtain) (int, error) {
	if end.result == nil {
		return end.code, nil
	}
	return end.code, p.tell(agent.ScriptedLine{Result: end.result})
}

func completed() *agent.ScriptedResult { return &agent.ScriptedResult{Reason: "stop"} }

// tell prints a line in one write, so that a kill cuts none in half.
func (p *player) tell(c agent.ScriptedLine) error {
	line, err := c.Line()
	if err != nil {
		return fmt.Errorf("tell: %w", err)
	}
	if _, err := p.Out.Write(line); err != nil {
		return fmt.Errorf("tell: %w", err)
	}
	return nil
}

// call tells of a tool call after it. A tool that fails is the agent's to bear; the
// error is one that ends the play.
func (p *player) call(name, input string, tool func() (output string, failed bool, err error)) error {
	output, failed, err := tool()
	if err != nil {
		return err
	}
	return p.tellCall(name, input, output, failed)
}

func (p *player) tellCall(name, input, output string, failed bool) error {
	p.calls++
	return p.tell(agent.ScriptedLine{Call: &agent.ScriptedCall{
		ID: "call_" + strconv.Itoa(p.calls), Name: name, Input: input, Output: strings.TrimSpace(output), Failed: failed,
	}})
}

func (p *player) memory(name string) string {
	if p.Memory == "" {
		return "ralph/" + name
	}
	return p.Memory + "/" + name
}
