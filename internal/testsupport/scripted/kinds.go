package scripted

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// kinds are what a file of a script can be.
var kinds = map[string]kind{
	"write":              {true, planWrite},
	"delete":             {true, planDelete},
	"run":                {false, planRun},
	"spawn":              {false, planSpawn},
	"commit":             {false, planCommit},
	"say":                {false, planSay},
	"promise":            {false, planPromise},
	"tool":               {false, planTool},
	"todo":               {false, planTodo},
	"claim":              {false, planClaim},
	"progress":           {false, planProgress},
	"cost":               {false, planCost},
	"expect":             {false, planExpect},
	"sleep":              {false, planSleep},
	"hang":               {false, planHang},
	"hang-ignoring-term": {false, planHangOn},
	"fail":               {false, planFail},
	"exit":               {false, planExit},
}

func planSay(_, text string) (action, error) {
	return func(_ context.Context, p *player) error {
		return p.tell(agent.ScriptedLine{Text: strings.TrimSpace(text)})
	}, nil
}

func planPromise(_, text string) (action, error) {
	return planSay("", "<promise>"+strings.TrimSpace(text)+"</promise>")
}

func planTodo(_, text string) (action, error) {
	states := map[string]stream.TaskState{"[x]": stream.TaskDone, "[>]": stream.TaskActive, "[ ]": stream.TaskPending}
	var todo stream.Todo
	for line := range strings.Lines(strings.TrimSpace(text)) {
		at := min(3, len(line))
		todo.Tasks = append(todo.Tasks, stream.Task{Text: strings.TrimSpace(line[at:]), State: states[line[:at]]})
	}
	return func(_ context.Context, p *player) error {
		return p.tell(agent.ScriptedLine{Todo: &todo})
	}, nil
}

// called is a tool call that only seems to happen.
type called struct {
	name, input, output string
	failed              bool
}

func planTool(_, text string) (action, error) {
	var calls []called
	for _, f := range fields(text) {
		input, output, worked := strings.Cut(f.value, "=>")
		c := called{name: f.name, input: input, output: output}
		if !worked {
			c.input, c.output, c.failed = strings.Cut(f.value, "=!")
		}
		calls = append(calls, c)
	}
	return func(_ context.Context, p *player) error {
		for _, c := range calls {
			err := p.call(c.name, strings.TrimSpace(c.input), func() (string, bool, error) { return c.output, c.failed, nil })
			if err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// planCost adds to what the play says it spent.
func planCost(_, text string) (action, error) {
	var spent agent.ScriptedSpent
	tokens := map[string]*int64{
		"input": &spent.Input, "output": &spent.Output, "cache-read": &spent.CacheRead, "cache-write": &spent.CacheWrite,
	}
	for _, f := range fields(text) {
		var err error
		into, known := tokens[f.name]
		switch {
		case known:
			*into, err = strconv.ParseInt(f.value, 10, 64)
		case f.name == "usd":
			spent.USD, err = strconv.ParseFloat(f.value, 64)
		default:
			err = fmt.Errorf("write usd, input, output, cache-read or cache-write")
		}
		if err != nil {
			return nil, fmt.Errorf("cost %q: %w", f.name, err)
		}
	}
	return func(_ context.Context, p *player) error {
		return p.tell(agent.ScriptedLine{Spent: &spent})
	}, nil
}

// planExpect fails the agent when it was not told what it should have been.
func planExpect(_, text string) (action, error) {
	return func(_ context.Context, p *player) error {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if !strings.Contains(string(p.prompt), line) {
				return failure(agent.ScriptedResult{Reason: "unexpected_prompt", Text: fmt.Sprintf("the prompt does not say %q", line)})
			}
		}
		return nil
	}, nil
}

func planSleep(_, text string) (action, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("sleep: %w", err)
	}
	return func(ctx context.Context, _ *player) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return nil
	}, nil
}

func planHang(_, _ string) (action, error) {
	return func(ctx context.Context, p *player) error {
		err := p.tellCall("Bash", "sleep infinity", "", false)
		<-ctx.Done()
		return cmp.Or(err, context.Cause(ctx))
	}, nil
}

// planHangOn only an end of the process ends. It waits for a clock, since a
// program in which nothing can ever happen is ended by its runtime.
func planHangOn(_, _ string) (action, error) {
	return func(_ context.Context, p *player) error {
		err := p.tellCall("Bash", "trap '' TERM; sleep infinity", "", false)
		for range time.NewTicker(time.Hour).C {
		}
		return err
	}, nil
}

// planFail returns what an API error looks like: a status may stand first, and how
// long the model wants to be left alone in a line of its own.
func planFail(_, text string) (action, error) {
	text, after, _ := strings.Cut(text, "\nafter: ")
	wait, err := time.ParseDuration(cmp.Or(strings.TrimSpace(after), "0s"))
	if err != nil {
		return nil, err
	}
	text = oneLine(text)
	first, _, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(first)
	if err != nil {
		status = 0
	}
	return func(context.Context, *player) error {
		return failure(agent.ScriptedResult{Reason: "api_error", Text: "API Error: " + text, Status: status, After: int(wait.Seconds())})
	}, nil
}

func failure(result agent.ScriptedResult) *curtain {
	result.Failed = true
	return &curtain{code: 1, result: &result}
}

// planExit drops the curtain without a word, unless the code says all is well.
func planExit(_, text string) (action, error) {
	code, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || code < 0 || code > 255 {
		return nil, fmt.Errorf("exit %q: write a code from 0 to 255", strings.TrimSpace(text))
	}
	end := &curtain{code: code}
	if code == 0 {
		end.result = completed()
	}
	return func(context.Context, *player) error { return &curtain{code: end.code, result: end.result} }, nil
}
