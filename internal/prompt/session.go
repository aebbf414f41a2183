package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/templates"
)

// Enter is what an agent is told when a loop within its session begins, or is
// gone on with.
func Enter(run journal.Run) (string, error) {
	rules, work := run.Policy.Session, ""
	if rules.MinTools > 0 && rules.NoWork != policy.NoWorkAccepted {
		var err error
		if work, err = fill("session/start-work.md", "{calls}", plural(rules.MinTools, "tool call")); err != nil {
			return "", err
		}
	}
	return fill("session/start.md", "{task}", run.Task.Body, "{marker}", run.Policy.Marker(),
		"{times}", plural(run.Policy.Limits.Iterations, "time"), "{work}", work)
}

// Again is what an agent is told that wanted to end too early.
func Again(run journal.Run) (string, error) {
	var parts []string
	add := func(name string, pairs ...string) error {
		text, err := fill(name, pairs...)
		parts = append(parts, text)
		return err
	}
	if run.Policy.Session.Ultra {
		if err := add("session/ultrawork.md"); err != nil {
			return "", err
		}
	}
	name, why := "session/continue.md", ""
	if last, found := run.Last(); found && len(last.Ended.Rejected) > 0 {
		name, why = "session/rejected.md", last.Ended.Rejected[0].Why
	}
	if err := add(name, "{marker}", run.Policy.Marker(), "{why}", why); err != nil {
		return "", err
	}
	err := add("session/task.md", "{task}", run.Task.Body,
		"{number}", strconv.Itoa(run.Used()-1), "{limit}", strconv.Itoa(run.Policy.Limits.Iterations))
	return strings.Join(parts, "\n\n"), err
}

// fill puts values into a template's places, in one pass: what is put in is
// not looked at again.
func fill(name string, pairs ...string) (string, error) {
	text, err := templates.Files.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the words %s: %w", name, err)
	}
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(string(text))), nil
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
