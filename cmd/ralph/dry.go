package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// dry prints what a run would begin with, and runs nothing.
func (d *desk) dry(j *job.Job, asked job.Asked) (int, error) {
	run := journal.Fold(journal.Run{}, journal.Entry{Seq: 1, At: d.w.now(), Event: journal.RunBegan{
		Run: asked.ID, Policy: asked.Policy, Task: asked.Task, Plan: asked.Plan, Base: asked.Base, Start: asked.Base,
		Branch: asked.Branch, BaseRef: asked.BaseRef, Level: asked.Level,
	}})
	turn := prompt.Turn{Number: 1, Base: asked.Task.Body}
	if story, found := asked.Plan.Next(); found {
		turn.Story = story.ID
	}
	if file := asked.Policy.PromptFile; file != "" {
		text, err := workspace.ReadText(file)
		if err != nil {
			return 0, fmt.Errorf("read the prompt: %w", err)
		}
		turn.Base = text
	}
	text, err := prompt.Of(run, turn)
	if err != nil {
		return 0, err
	}
	return 0, d.showDry(j, asked.Policy, text)
}

func (d *desk) showDry(j *job.Job, p policy.Policy, text string) error {
	order := agent.Order{Iteration: 1, Max: p.Limits.Iterations, Prompt: text, Model: p.Model}
	argv := j.Agent.Argv(order)
	if d.JSON {
		encoder := json.NewEncoder(d.w.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"policy": p, "agent": argv, "prompt": text})
	}
	rules, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("show the policy: %w", err)
	}
	_, err = fmt.Fprintf(d.w.stdout, "policy:\n%s\n\nagent:\n%s\n\nprompt:\n%s\n", rules, strings.Join(argv, " "), text)
	return err
}
