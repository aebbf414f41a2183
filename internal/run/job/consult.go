package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/agent/instructions"
	"github.com/ralph-loop/ralph/internal/agent/review"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
)

const (
	reviewDiff = 60_000  // bytes of the change in the prompt
	reviewFile = 1 << 20 // bytes of a file that may hold a quote
)

// review asks another agent for its opinion of a story that is about to pass. The agent reads a
// clean checkout. A missing opinion is recorded and blocks nothing, unless the budget is used.
func (a *agents) review(ctx context.Context, run journal.Run, step verdict.Review, emit emit) error {
	reviewed := journal.StoryReviewed{Story: step.Story, Commit: step.Commit, By: a.chosen.Reviewer.Agent.Name}
	err := a.secondOpinion(ctx, run, step, &reviewed, emit)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		reviewed.Why = err.Error()
	}
	emit(reviewed)
	return nil
}

func (a *agents) secondOpinion(
	ctx context.Context,
	run journal.Run,
	step verdict.Review,
	reviewed *journal.StoryReviewed,
	emit emit,
) error {
	story, found := run.Plan.Find(step.Story)
	if !found {
		return fmt.Errorf("no story %q in the plan", step.Story)
	}
	diff, cut, err := a.repo.trusted.Diff(ctx, git.Span{From: run.Base, To: step.Commit}, reviewDiff)
	if err != nil {
		return err
	}
	ended, err := a.consult(ctx, run, question{
		of:     *a.chosen.Reviewer,
		commit: step.Commit,
		log:    "review_",
		order: agent.Order{
			Iteration: len(run.Iterations),
			Max:       run.Policy.Limits.Iterations,
			Story:     step.Story,
			Prompt:    prompt.Review(story, diff, cut),
			Model:     run.Policy.Review.Model,
		},
	}, emit)
	reviewed.Consultation = ended.Consultation()
	if err != nil {
		return err
	}
	points, err := review.Read(ended.Words, len(story.AcceptanceCriteria))
	if err != nil {
		return err
	}
	return a.checkObjections(ctx, points, reviewed)
}

func (a *agents) checkObjections(ctx context.Context, points []review.Point, reviewed *journal.StoryReviewed) error {
	looked := map[int]bool{}
	for _, p := range points {
		looked[p.Criterion] = true
		if p.Met {
			continue
		}
		file, err := a.repo.trusted.ReadFile(ctx, git.At{Commit: reviewed.Commit, Path: p.File}, reviewFile)
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil || !p.Stands(file) {
			reviewed.Unfounded++
			continue
		}
		reviewed.Missed = append(reviewed.Missed, journal.Missed{
			Criterion: p.Criterion,
			Why:       p.Why,
			File:      p.File,
			Line:      p.Line,
			Quote:     p.Quote,
		})
	}
	reviewed.Looked = len(looked)
	return nil
}

// draftPlan has the agent plan a task without acceptance criteria, in a clean checkout. Without
// a plan, the whole task is one story; that is recorded.
func (a *agents) draftPlan(ctx context.Context, run journal.Run, emit emit) error {
	drafted := journal.PlanDrafted{By: a.chosen.Agent.Name}
	err := a.askForPlan(ctx, run, &drafted, emit)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		drafted.Why = err.Error()
	}
	emit(drafted)
	isUnplanned := drafted.Why != "" && !drafted.CannotRun && !drafted.Overspent
	if isUnplanned && !verdict.NeedsPlan(a.record.Run()) {
		emit(journal.Noted{
			What: fmt.Sprintf("%s made no usable plan, so the whole task is one story", drafted.By),
			Hint: "list the criteria in the issue, as - [ ] items or under a heading such as Acceptance criteria",
		})
	}
	return nil
}

func (a *agents) askForPlan(ctx context.Context, run journal.Run, drafted *journal.PlanDrafted, emit emit) error {
	tries := len(run.Planning.Misplans)
	ended, err := a.consult(ctx, run, question{
		of:     Reviewer{Agent: a.chosen.Agent, Env: a.chosen.AgentEnv},
		commit: run.Start,
		log:    fmt.Sprintf("plan_%d_", run.Seq),
		order: agent.Order{
			Retries: tries,
			Max:     run.Policy.Limits.Iterations,
			Prompt:  prompt.Plan(run),
			Model:   run.Policy.Model,
		},
	}, emit)
	drafted.Consultation = ended.Consultation()
	drafted.CannotRun = ended.CannotRun
	drafted.Fix = ended.Fix
	drafted.Denied = ended.Denied
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

type question struct {
	of     Reviewer // the agent
	commit string   // of the clean checkout
	log    string   // prefix of the transcript's name
	order  agent.Order
}

const answerTime = time.Hour // if an iteration has no limit

var errBudgetUsed = errors.New("the run's budget is used")

// consult has an agent read a clean checkout. It returns the usage even with an error, and the
// answer as its last words: an opinion is at the end.
func (a *agents) consult(ctx context.Context, run journal.Run, q question, emit emit) (journal.AgentEnded, error) {
	if verdict.IsBudgetSpent(run) { // an agent takes a limit of 0 for no limit
		return journal.AgentEnded{}, errBudgetUsed
	}
	differing, err := instructions.Differing(ctx, a.repo.trusted, run.Base, q.commit)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	if len(differing) > 0 { // the prompt has the base's instructions
		q.commit, err = a.repo.trusted.Overlay(ctx, git.Overlay{Onto: q.commit, From: run.Base, Without: differing})
		if err != nil {
			return journal.AgentEnded{}, err
		}
	}
	dir, err := a.clean.CheckOut(ctx, run, q.commit)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	q.order.Prompt = a.guidance(ctx, run) + q.order.Prompt
	ended, err := a.runAgent(ctx, a.readingAgent(run, dir, q), q.order, emit)
	if err != nil {
		return ended, err
	}
	if ended.Failed {
		return ended, fmt.Errorf("%s failed: %s", q.of.Agent.Name, ended.Why)
	}
	return ended, nil
}

func (a *agents) readingAgent(run journal.Run, dir string, q question) driver.Agent {
	hand := a.agentAt(run, dir)
	hand.Adapter = q.of.Agent
	hand.Env = a.machine.Sandbox.Env(q.of.Env, false)
	hand.Open = func(name string) (io.WriteCloser, error) { return a.record.home.Create(q.log + name) }
	hand.Timeout = cmp.Or(hand.Timeout, answerTime)
	return hand
}
