package job

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/merging"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/prompt"
	"github.com/ralph-loop/ralph/internal/verdict"
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
	asked.Policy, asked.Notes = p, append(asked.Notes, notes...)
	return asked, nil
}

type stories struct{ *trees }

// Of returns the test files that iterations on a story changed, or those that are left of earlier work.
func (s stories) Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error) {
	own, err := testsIn(ctx, s.trusted, run, commit, spansOf(run.Worked(story)))
	if err != nil || len(own) > 0 {
		return own, err
	}
	left, err := testsIn(ctx, s.trusted, run, commit, unrecorded(run, story))
	left = slices.DeleteFunc(left, func(file string) bool { return run.ProvesAnother(story, file) })
	if proved := inBoth(slices.Clone(left), slices.Clone(run.ProvedBefore(story))); len(proved) > 0 {
		return proved, err
	}
	return left, err
}

// testsIn returns the test files that are changed in some commits.
func testsIn(ctx context.Context, code *git.Trusted, run journal.Run, commit string, spans []git.Span) ([]string, error) {
	var files []string
	for _, span := range spans {
		changed, err := code.ChangedFiles(ctx, span)
		if err != nil {
			return nil, err
		}
		files = append(files, changed...)
	}
	return checkout.Testing(ctx, code, run, commit, files)
}

func spansOf(work []journal.CommitsTaken) (spans []git.Span) {
	for _, taken := range work {
		spans = append(spans, git.Span{From: taken.From, To: taken.To})
	}
	return spans
}

// Without returns a commit without a story's own work.
func (s stories) Without(ctx context.Context, commit string, work []journal.CommitsTaken) (string, error) {
	return merging.Without(ctx, s.trusted, commit, work)
}

// With returns a commit with what others changed later.
func (s stories) With(ctx context.Context, commit string, others journal.Joined) (string, error) {
	return merging.With(ctx, s.trusted, commit, others)
}

// unrecorded returns the commits of an unfinished run, or of one that proved the same story or left its work open, and those
// that an earlier job of this run pushed before it was killed: its newest record was not saved.
func unrecorded(run journal.Run, story string) (spans []git.Span) {
	switch {
	case run.Start != run.Base && (run.Onto.Commit == "" || len(run.ProvedBefore(story)) > 0):
		spans = append(spans, git.Span{From: run.Base, To: run.Start})
	case run.IsShownByOpenWork(story):
		spans = append(spans, spansOf(run.OpenSpans(story))...)
	}
	for _, join := range run.Joins {
		if join.Own {
			spans = append(spans, git.Span{From: join.From, To: join.With})
		}
	}
	return spans
}

// Touched returns the files changed for a story, on this run or before, without reverted changes.
func (s stories) Touched(ctx context.Context, run journal.Run, story, commit string) ([]string, error) {
	spans := append(unrecorded(run, story), spansOf(run.Worked(story))...)
	files, err := checkout.Touched(ctx, s.trusted, run, spans)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	left, err := s.trusted.ChangedPaths(ctx, git.Span{From: spans[0].From, To: commit})
	return inBoth(files, left), err
}

// inBoth returns the names that are in both lists. It sorts one: an agent can change 200,000 files.
func inBoth(names, others []string) []string {
	slices.Sort(others)
	return slices.DeleteFunc(names, func(name string) bool { _, is := slices.BinarySearch(others, name); return !is })
}

// draftPlan has the agent plan a task without acceptance criteria, in a clean checkout. Without
// a plan, the whole task is one story; that is recorded.
func (s *turns) draftPlan(ctx context.Context, run journal.Run, emit emit) error {
	drafted := journal.PlanDrafted{By: s.Agent.Name}
	if err := s.askForPlan(ctx, run, &drafted, emit); err != nil {
		if ctx.Err() != nil {
			return err
		}
		drafted.Why = err.Error()
	}
	emit(drafted)
	if now := s.Run(); drafted.Why != "" && !drafted.CannotRun && !drafted.Overspent && !verdict.NeedsPlan(now) {
		emit(journal.Noted{
			What: fmt.Sprintf("%s made no usable plan, so the whole task is one story", drafted.By),
			Hint: "list the criteria in the issue, as - [ ] items or under a heading such as Acceptance criteria",
		})
	}
	return nil
}

func (s *turns) askForPlan(ctx context.Context, run journal.Run, drafted *journal.PlanDrafted, emit emit) error {
	tries := len(run.Misplans)
	ended, err := s.consult(ctx, run, question{
		of: Reviewer{Agent: s.Agent, Env: s.AgentEnv}, commit: run.Start, log: fmt.Sprintf("plan_%d_", run.Seq),
		order: agent.Order{Retries: tries, Max: run.Policy.Limits.Iterations, Prompt: prompt.Plan(run), Model: run.Policy.Model},
	}, emit)
	drafted.TookMS, drafted.Usage, drafted.Cost, drafted.Transcript = ended.TookMS, ended.Usage, ended.Cost, ended.Transcript
	drafted.CannotRun, drafted.Fix, drafted.Denied, drafted.Overspent = ended.CannotRun, ended.Fix, ended.Denied, ended.Overspent
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
