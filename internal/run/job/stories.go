package job

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

func (s *activeRun) detectChecks(ctx context.Context, asked NewRun) (NewRun, error) {
	if !asked.DetectChecks || s.trusted == nil {
		return asked, nil
	}
	files, err := checkout.Surveyed(ctx, s.trusted, git.At{Commit: asked.Base, Path: asked.Policy.Subfolder})
	if err != nil {
		return asked, err
	}
	p, notes := checkout.Detect(asked.Policy, files)
	asked.Policy = p
	asked.Notes = append(asked.Notes, notes...)
	return asked, nil
}

// draftPlan has the agent plan a task without acceptance criteria, in a clean checkout. Without
// a plan, the whole task is one story; that is recorded.
func (s *turns) draftPlan(ctx context.Context, run journal.Run, emit emit) error {
	drafted := journal.PlanDrafted{By: s.Agent.Name}
	err := s.askForPlan(ctx, run, &drafted, emit)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		drafted.Why = err.Error()
	}
	emit(drafted)
	isUnplanned := drafted.Why != "" && !drafted.CannotRun && !drafted.Overspent
	if isUnplanned && !verdict.NeedsPlan(s.Run()) {
		emit(journal.Noted{
			What: fmt.Sprintf("%s made no usable plan, so the whole task is one story", drafted.By),
			Hint: "list the criteria in the issue, as - [ ] items or under a heading such as Acceptance criteria",
		})
	}
	return nil
}

func (s *turns) askForPlan(ctx context.Context, run journal.Run, drafted *journal.PlanDrafted, emit emit) error {
	tries := len(run.Planning.Misplans)
	ended, err := s.consult(ctx, run, question{
		of:     Reviewer{Agent: s.Agent, Env: s.AgentEnv},
		commit: run.Start,
		log:    fmt.Sprintf("plan_%d_", run.Seq),
		order: agent.Order{
			Retries: tries,
			Max:     run.Policy.Limits.Iterations,
			Prompt:  prompt.Plan(run),
			Model:   run.Policy.Model,
		},
	}, emit)
	drafted.TookMS = ended.TookMS
	drafted.Usage = ended.Usage
	drafted.Cost = ended.Cost
	drafted.Transcript = ended.Transcript
	drafted.CannotRun = ended.CannotRun
	drafted.Fix = ended.Fix
	drafted.Denied = ended.Denied
	drafted.Overspent = ended.Overspent
	if err != nil {
		return err
	}
	drafted.Stories, drafted.Left, err = plan.FromAnswer(ended.Words)
	if err != nil && ended.Question != "" {
		drafted.Question = ended.Question
		return nil
	}
	return err
}
