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
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
)

// Reviewer is the agent that gives second opinions.
type Reviewer struct {
	Agent agent.Adapter
	Env   []string // the base of its environment
}

const (
	reviewDiff = 60_000  // bytes of the change in the prompt
	reviewFile = 1 << 20 // bytes of a file that may hold a quote
)

// review asks another agent for its opinion of a story that is about to pass. The agent reads a
// clean checkout. A missing opinion is recorded and blocks nothing, unless the budget is used.
func (s *turns) review(ctx context.Context, run journal.Run, step verdict.Review, emit emit) error {
	reviewed := journal.StoryReviewed{Story: step.Story, Commit: step.Commit, By: s.Reviewer.Agent.Name}
	err := s.secondOpinion(ctx, run, step, &reviewed, emit)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		reviewed.Why = err.Error()
	}
	emit(reviewed)
	return nil
}

func (s *turns) secondOpinion(
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
	diff, cut, err := s.trusted.Diff(ctx, git.Span{From: run.Base, To: step.Commit}, reviewDiff)
	if err != nil {
		return err
	}
	ended, err := s.consult(ctx, run, question{
		of:     *s.Reviewer,
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
	reviewed.TookMS = ended.TookMS
	reviewed.Usage = ended.Usage
	reviewed.Cost = ended.Cost
	reviewed.Transcript = ended.Transcript
	reviewed.Overspent = ended.Overspent
	if err != nil {
		return err
	}
	points, err := review.Read(ended.Words, len(story.AcceptanceCriteria))
	if err != nil {
		return err
	}
	return s.checkObjections(ctx, points, reviewed)
}

var errBudgetUsed = errors.New("the run's budget is used")

func (s *turns) checkObjections(ctx context.Context, points []review.Point, reviewed *journal.StoryReviewed) error {
	looked := map[int]bool{}
	for _, p := range points {
		looked[p.Criterion] = true
		if p.Met {
			continue
		}
		file, err := s.trusted.ReadFile(ctx, git.At{Commit: reviewed.Commit, Path: p.File}, reviewFile)
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

type question struct {
	of     Reviewer // the agent
	commit string   // of the clean checkout
	log    string   // prefix of the transcript's name
	order  agent.Order
}

const answerTime = time.Hour // if an iteration has no limit

// consult has an agent read a clean checkout. It returns the usage even with an error, and the
// answer as its last words: an opinion is at the end.
func (s *turns) consult(ctx context.Context, run journal.Run, q question, emit emit) (journal.AgentEnded, error) {
	if verdict.IsBudgetSpent(run) { // an agent takes a limit of 0 for no limit
		return journal.AgentEnded{}, errBudgetUsed
	}
	differing, err := instructions.Differing(ctx, s.trusted, run.Base, q.commit)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	if len(differing) > 0 { // the prompt has the base's instructions
		q.commit, err = s.trusted.Overlay(ctx, git.Overlay{Onto: q.commit, From: run.Base, Without: differing})
		if err != nil {
			return journal.AgentEnded{}, err
		}
	}
	dir, err := s.clean.CheckOut(ctx, run, q.commit)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	if s.Sandbox == nil {
		if err := q.of.Agent.CheckAutoRuns(dir); err != nil {
			return journal.AgentEnded{}, err
		}
	}
	q.order.Prompt = s.guidance(ctx, run) + q.order.Prompt
	ended, err := s.runAgent(ctx, s.readingAgent(run, dir, q), q.order, emit)
	if err != nil {
		return ended, err
	}
	if ended.Failed {
		return ended, fmt.Errorf("%s failed: %s", q.of.Agent.Name, ended.Why)
	}
	return ended, nil
}

func (s *turns) readingAgent(run journal.Run, dir string, q question) driver.Agent {
	hand := s.agentAt(run, dir)
	hand.Adapter = q.of.Agent
	hand.Env = s.Sandbox.Env(q.of.Env, false)
	hand.Open = func(name string) (io.WriteCloser, error) { return s.home.Create(q.log + name) }
	hand.Timeout = cmp.Or(hand.Timeout, answerTime)
	return hand
}
