package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/workspace"
	"github.com/ralph-loop/ralph/templates"
)

// sheets are the files to lay out.
func (c initCommand) sheets(now time.Time) ([]workspace.Sheet, error) {
	var sheets []workspace.Sheet
	if c.PRD {
		var err error
		if sheets, err = c.loop(now); err != nil {
			return nil, err
		}
	}
	if !c.GitHub {
		return sheets, nil
	}
	workflow, err := c.workflow()
	if err != nil {
		return nil, err
	}
	form, err := templates.Files.ReadFile("workflows/issue.yml")
	return append(sheets,
		workspace.Sheet{Path: workflowFile, Data: workflow},
		workspace.Sheet{Path: ".github/ISSUE_TEMPLATE/ralph.yml", Data: form},
	), err
}

// loop are the files of a loop: PRD, log and prompt.
func (c initCommand) loop(now time.Time) ([]workspace.Sheet, error) {
	if err := checkFeature(c.Name); err != nil {
		return nil, err
	}
	memory := workspace.Memory{Dir: c.RalphDir}
	sheets, err := beginning{Project: filepath.Base(c.ProjectDir), Memory: memory, Feature: c.Name, Now: now}.sheets()
	if err != nil {
		return nil, err
	}
	text, err := templates.Files.ReadFile("start/prompt.md")
	return append(sheets, workspace.Sheet{Path: memory.PromptFile(), Data: c.placed(text)}), err
}

// checkFeature refuses what git would refuse as a branch, before anything is
// written.
func checkFeature(name string) error {
	if name == "" {
		return nil
	}
	if err := git.CheckBranch("ralph/" + name); err != nil {
		return fault.Usage("the feature cannot be called so", "try --name "+plan.Slug(name, 40), err)
	}
	return nil
}

// beginning is what a loop begins with.
type beginning struct {
	Project string
	Memory  workspace.Memory
	Feature string // empty: the template's
	Now     time.Time
}

// sheets are a PRD to fill in, and a log without entries.
func (b beginning) sheets() ([]workspace.Sheet, error) {
	prd, err := b.prd()
	if err != nil {
		return nil, fmt.Errorf("make a PRD: %w", err)
	}
	about := b.Project
	if b.Feature != "" {
		about += " (" + b.Feature + ")"
	}
	year, month, day := b.Now.Date()
	progress, err := prompt.Progress(journal.Run{
		// The date that people see on their calendar, wherever they are.
		Began: time.Date(year, month, day, 0, 0, 0, 0, time.UTC), Plan: plan.Plan{Project: about},
	})
	if err != nil {
		return nil, err
	}
	books := b.Memory.Books()
	return []workspace.Sheet{{Path: books[0], Data: prd}, {Path: books[1], Data: progress}}, nil
}

func (b beginning) prd() ([]byte, error) {
	text, err := templates.Files.ReadFile("start/prd.json")
	if err != nil {
		return nil, err
	}
	var prd plan.Plan
	if err := json.Unmarshal(text, &prd); err != nil {
		return nil, err
	}
	prd.Project = b.Project
	if b.Feature != "" {
		prd.BranchName = "ralph/" + b.Feature
	}
	return prd.Marshal()
}
