package laptop

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

func (d *Project) details(run journal.Run, event journal.Event) []string {
	switch e := event.(type) { //nolint:gochecksumtype // of the rest the console says enough
	case journal.IterationBegan:
		return []string{
			fmt.Sprintf("Iteration %s starting", view.OfLimit(run, e.Number)),
			fmt.Sprintf("Prompt (%d bytes): %s", e.Prompt.Size, d.promptStart(run, e.Prompt)),
		}
	case journal.AgentEnded:
		return []string{fmt.Sprintf("Agent exited with code %d (%s)", e.Exit, policy.FormatDuration(e.Took()))}
	case journal.CheckEnded:
		return []string{fmt.Sprintf("Guardrail exited with code %d (%s)", e.Exit, policy.FormatDuration(e.Took()))}
	case journal.IterationEnded:
		return []string{fmt.Sprintf("Looking for %q: accepted %v", run.Policy.Word, e.Done || len(e.Passed) > 0)}
	default:
		return nil
	}
}

func (d *Project) logSettings() error {
	if !d.Verbose {
		return nil
	}
	text, err := d.Settings.Show()
	if err != nil {
		return err
	}
	d.logf("Merged configuration:")
	for line := range strings.Lines(text) {
		d.logf("  %s", clean.LogLine(strings.TrimSuffix(line, "\n")))
	}
	return nil
}

// logAgent logs the agent without a prompt: each iteration logs its own.
func (d *Project) logAgent(a agent.Adapter, path string, p policy.Policy) {
	argv := a.Argv(agent.Order{Iteration: 1, Dir: d.ProjectDir, Max: p.Limits.Iterations, Model: p.Model})
	d.logf("Agent: %s (%s)", a.Name, path)
	d.logf("Agent command: %s", clean.LogLine(d.secrets.String(strings.Join(argv, " "))))
}

func (d *Project) promptStart(run journal.Run, prompt journal.Attachment) string {
	const most = 200
	text, err := untrusted.ReadFile(filepath.Join(d.folder(), "runs", run.ID, prompt.Path), 64<<20)
	if err != nil {
		return err.Error()
	}
	runes := []rune(string(text))
	return fmt.Sprintf("%q", string(runes[:min(len(runes), most)]))
}

// printDryRun shows the next turn of a run after one more event.
func (d *Project) printDryRun(j *job.Job, run journal.Run, event journal.Event) (int, error) {
	run = journal.Fold(run, journal.Entry{Seq: run.Seq + 1, At: d.World.Now(), Event: event})
	turn := prompt.Turn{Number: len(run.Iterations) + 1}
	if it, open := run.OpenIteration(); open {
		turn.Number = it.Number
		turn.Story = it.Story
	} else if story, found := run.Plan.Next(); found {
		turn.Story = story.ID
	}
	base, err := job.BasePrompt(run, j.Code.Project)
	if err != nil {
		return 0, err
	}
	turn.Base = base
	text, err := prompt.ForTurn(run, turn)
	if err != nil {
		return 0, err
	}
	p := run.Policy
	order := agent.Order{Iteration: 1, Dir: d.ProjectDir, Max: p.Limits.Iterations, Prompt: text, Model: p.Model}
	argv := j.Agents.Agent.Argv(order)
	for i, word := range argv {
		argv[i] = d.secrets.String(word)
	}
	if d.JSON {
		return 0, clean.JSON(d.World.Stdout, map[string]any{"policy": p, "agent": argv, "prompt": text})
	}
	rules, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return 0, fmt.Errorf("show the policy: %w", err)
	}
	_, err = fmt.Fprintf(d.World.Stdout, "policy:\n%s\n\nagent:\n%s\n\nprompt:\n%s\n",
		rules, strings.Join(argv, " "), text)
	return 0, err
}
