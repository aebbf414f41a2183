package job

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// draft has the agent make a plan of a task that does not say what has to hold.
// It reads a clean checkout that is thrown away. Without a plan the work goes on
// with the task as it is; that is on record.
func (s *site) draft(ctx context.Context, run journal.Run, _ verdict.Draft, emit emit) error {
	drafted := journal.PlanDrafted{By: s.Agent.Name}
	if err := s.sketch(ctx, run, &drafted, emit); err != nil {
		if ctx.Err() != nil {
			return err
		}
		drafted.Why = err.Error()
	}
	emit(drafted)
	if now := s.Run(); drafted.Why != "" && !drafted.CannotRun && !drafted.Overspent && !verdict.Unplanned(now) {
		emit(journal.Noted{
			What: fmt.Sprintf("%s made no plan that can be worked by, so the task is one story, as it stands", drafted.By),
			Hint: "list in the issue what has to hold, as - [ ] items or under a heading such as Acceptance criteria",
		})
	}
	return nil
}

func (s *site) sketch(ctx context.Context, run journal.Run, drafted *journal.PlanDrafted, emit emit) error {
	text, err := prompt.Plan(run)
	if err != nil {
		return err
	}
	tries := len(run.Misplans)
	ended, answer, err := s.consult(ctx, run, question{
		of: Reviewer{Agent: s.Agent, Env: s.AgentEnv}, commit: run.Start, log: fmt.Sprintf("plan_%d_", run.Seq),
		order: agent.Order{Again: tries, Max: run.Policy.Limits.Iterations, Prompt: text, Model: run.Policy.Model},
	}, emit)
	drafted.TookMS, drafted.Usage, drafted.Cost, drafted.Transcript = ended.TookMS, ended.Usage, ended.Cost, ended.Transcript
	drafted.CannotRun, drafted.Fix, drafted.Overspent = ended.CannotRun, ended.Fix, ended.Overspent
	if err != nil {
		return err
	}
	drafted.Stories, drafted.Left, err = plan.Sketch(answer)
	if err != nil && ended.Question != "" {
		drafted.Question = ended.Question
		return nil
	}
	return err
}
