package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/prompt"
)

// dry prints what a run would begin with, and runs nothing.
func (d *desk) dry(j *job.Job, asked job.Asked) (int, error) {
	run := journal.Fold(journal.Run{}, journal.Entry{Seq: 1, At: d.w.now(), Event: journal.RunBegan{
		Run: asked.ID, Policy: asked.Policy, Task: asked.Task, Plan: asked.Plan, Base: asked.Base, Start: asked.Base,
		Branch: asked.Branch, BaseRef: asked.BaseRef, Level: asked.Level,
	}})
	return d.dryAgain(j, run)
}

// dryAgain prints what run would go on with.
func (d *desk) dryAgain(j *job.Job, run journal.Run) (int, error) {
	turn := prompt.Turn{Number: len(run.Iterations) + 1}
	if it, open := run.Open(); open {
		turn.Number, turn.Story = it.Number, it.Story
	} else if story, found := run.Plan.Next(); found {
		turn.Story = story.ID
	}
	base, err := job.Told(run, j.Project)
	if err != nil {
		return 0, err
	}
	turn.Base = base
	text, err := prompt.Of(run, turn)
	if err != nil {
		return 0, err
	}
	return 0, d.showDry(j, run.Policy, text)
}

func (d *desk) showDry(j *job.Job, p policy.Policy, text string) error {
	order := agent.Order{Iteration: 1, Dir: d.ProjectDir, Max: p.Limits.Iterations, Prompt: text, Model: p.Model}
	argv := config.MaskWords(j.Agent.Argv(order), d.secrets)
	if d.JSON {
		return printJSON(d.w.stdout, map[string]any{"policy": p, "agent": argv, "prompt": text})
	}
	rules, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return fmt.Errorf("show the policy: %w", err)
	}
	_, err = fmt.Fprintf(d.w.stdout, "policy:\n%s\n\nagent:\n%s\n\nprompt:\n%s\n", rules, strings.Join(argv, " "), text)
	return err
}
