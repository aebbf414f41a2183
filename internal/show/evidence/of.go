package evidence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Of returns the evidence of a run. tools has the versions of the programs.
func Of(run journal.Run, tools map[string]string) Evidence {
	e := Evidence{
		Version:     Version,
		Run:         run.ID,
		Status:      policy.StatusRunning,
		Began:       run.Clock.Began,
		Ended:       run.Clock.Now,
		Tools:       map[string]string{"agent": run.Policy.Agent},
		Task:        taskOf(run.Task),
		Code:        Code{BaseRef: run.BaseRef, Base: run.Base, Branch: run.Branch, Head: run.Head, Tree: run.Tree},
		Rules:       rulesOf(run),
		Stories:     each(run.Plan.UserStories, func(story plan.Story) Story { return storyOf(run, story) }),
		Iterations:  each(run.Iterations, iterationOf),
		NotVerified: notVerified(run),
		Cost:        Cost{USD: run.Spent.CostUSD, Known: run.Spent.CostKnown, Tokens: run.Spent.Usage},
	}
	maps.Copy(e.Tools, tools)
	if run.Policy.Model != "" {
		e.Tools["model"] = run.Policy.Model
	}
	if run.Stop != nil {
		e.Status = run.Stop.Reason.Status()
		e.StopReason = run.Stop.Reason
	}
	if run.Baseline != nil {
		e.Baseline = &Baseline{run.Baseline.Usable, run.Baseline.Why, each(run.BaseChecks, resultOf)}
	}
	if found, ok := run.WholeProof(); ok {
		e.Proof = proofOf(found)
	}
	return e
}

// each returns what f makes of each item, never nil.
func each[From, To any](list []From, f func(From) To) []To {
	all := make([]To, 0, len(list))
	for _, item := range list {
		all = append(all, f(item))
	}
	return all
}

// Marshal returns the file.
func (e Evidence) Marshal() ([]byte, error) {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the evidence: %w", err)
	}
	return append(data, '\n'), nil
}

func taskOf(t plan.Task) Task {
	return Task{
		Kind:   string(t.Kind),
		Number: t.Number,
		Title:  t.Title,
		Author: t.Author,
		Repo:   t.Repo,
		URL:    t.URL,
	}
}

func rulesOf(run journal.Run) Rules {
	p := run.Policy
	return Rules{
		Setup:    each(p.Setup, commandOf),
		Checks:   each(p.Checks, commandOf),
		Baseline: p.Baseline,
		Proof:    cmp.Or(p.Proof, policy.RedToGreen),
		Tamper:   p.Tamper,
		Protect:  append([]string{}, p.Protect...),
		Within:   p.Subfolder,
		Memory:   p.Memory,
		Sandbox:  run.Level,
	}
}

func commandOf(check policy.Check) Command {
	command := Command{Name: check.Name, Command: check.Command, Paths: check.Paths, Added: check.Added}
	if check.Timeout > 0 {
		command.Timeout = check.Timeout.String()
	}
	return command
}

func notVerified(run journal.Run) []string {
	words := []string{}
	if run.Baseline != nil && run.Baseline.Why != "" {
		words = append(words, run.Baseline.Why)
	}
	if why := verdict.WhyUnproven(run); why != "" {
		words = append(words, why)
	}
	for _, story := range run.Plan.UserStories {
		proof, _ := run.StoryProof(story.ID)
		switch {
		case !story.Passes:
			words = append(words, story.ID+" is open")
		case verdict.ReviewAnswer(run, story.ID) != "":
		case verdict.PassedInRun(run, story.ID) && !verdict.IsStoryProven(run, story):
			words = append(words, fmt.Sprintf("%s: %s: %s", story.ID, proof.Result.Text(), proof.Why))
		}
	}
	return words
}

func storyOf(run journal.Run, story plan.Story) Story {
	out := Story{
		ID:             story.ID,
		Title:          story.Title,
		Criteria:       append([]string{}, story.AcceptanceCriteria...),
		NeedsNoTest:    story.Untested(),
		MayChangeTests: story.MayChangeTests,
		Passes:         story.Passes,
		Proven:         verdict.IsStoryProven(run, story),
	}
	for _, criterion := range story.AcceptanceCriteria {
		if slices.Contains(run.Planning.Added, criterion) {
			out.Added = append(out.Added, criterion)
		}
	}
	for _, it := range run.Iterations {
		if it.Story != story.ID {
			continue
		}
		out.Iterations = append(out.Iterations, it.Number)
		if it.Proof != nil && it.Proof.Passed {
			out.Commit = it.Proof.Commit
		}
	}
	proof, found := run.StoryProof(story.ID)
	if found {
		out.Proof = proofOf(proof)
	}
	if shown := verdict.CriterionTests(story, proof); strings.Join(shown, "") != "" {
		out.Shown = shown
	}
	if reviewed, found := run.ReviewOf(story.ID); found {
		out.Review = reviewOf(reviewed)
	}
	return out
}

func reviewOf(e journal.StoryReviewed) *Review {
	return &Review{
		By:               e.By,
		Commit:           e.Commit,
		Looked:           e.Looked,
		Missed:           each(e.Missed, journal.Missed.String),
		Why:              e.Why,
		TranscriptDigest: e.Transcript.Digest,
	}
}

func iterationOf(it journal.Iteration) Iteration {
	out := Iteration{
		Number:       it.Number,
		Story:        it.Story,
		PromptDigest: it.Prompt.Digest,
		Checks:       each(it.Checks, resultOf),
	}
	if it.Agent != nil {
		out.TranscriptDigest = it.Agent.Transcript.Digest
		out.Tools = it.Agent.Tools
		out.CostUSD = it.Agent.Cost.Amount()
	}
	if it.Taken != nil {
		out.Dropped = it.Taken.Dropped
		out.Commits = each(it.Taken.Commits, func(commit journal.Commit) string { return commit.SHA })
	}
	if it.Ended != nil {
		out.Passed = it.Ended.Passed
		out.Rejected = it.Ended.Rejected
	}
	return out
}

func proofOf(p journal.Proof) *Proof {
	return &Proof{
		Base:         p.Base,
		Commit:       p.Commit,
		Tree:         p.Tree,
		Result:       p.Result,
		Why:          p.Why,
		Reused:       p.Reused,
		Files:        p.Files,
		Tests:        p.Tests,
		DoesNotBuild: p.DoesNotBuild,
		Restored:     p.Restored,
		Look:         p.Look,
		Untested:     p.Untested,
		Tried:        p.Tried,
		Setup:        each(p.Checks.Setup, setupResultOf),
		Head:         each(p.Checks.Head, resultOf),
		OldTests:     each(p.Checks.OldTests, resultOf),
		NewTests:     each(p.Checks.NewTests, resultOf),
	}
}

func setupResultOf(setup journal.SetupEnded) CheckResult { return resultOf(journal.CheckEnded(setup)) }

func resultOf(check journal.CheckEnded) CheckResult {
	out := CheckResult{
		Name:      check.Name,
		Command:   check.Command,
		Exit:      check.Exit,
		Passed:    check.Passed,
		TimedOut:  check.TimedOut,
		CannotRun: check.CannotRun,
		Skipped:   check.Skipped,
		TookMS:    check.TookMS,
		LogDigest: check.Digest,
		Flaky:     check.Flaky,
	}
	if tests := check.Tests; tests != nil {
		out.Tests = &Tests{tests.Passed, tests.Failed, tests.Skipped, tests.Red, tests.Broken, tests.Cut}
	}
	return out
}
