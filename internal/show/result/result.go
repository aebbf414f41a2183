// Package result is a run as one JSON object for scripts: the output of
// --json and the output `result`.
package result

import (
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Result is a run as scripts read it.
type Result struct {
	Status          policy.Status `json:"status"`
	StopReason      policy.Reason `json:"stop_reason"`
	Success         bool          `json:"success"`
	RunID           string        `json:"run_id"`
	TotalIterations int           `json:"total_iterations"`
	Iterations      []Iteration   `json:"iterations"`
	TotalCostUSD    *float64      `json:"total_cost_usd"` // as far as it is known; null where none of it is
	TotalDurationS  float64       `json:"total_duration_s"`
	Stories         []Story       `json:"stories"`
	Branch          string        `json:"branch"`
	Head            string        `json:"head"`
	SandboxLevel    string        `json:"sandbox_level"`
	Undelivered     []string      `json:"undelivered"` // files that stay in the user's folder as they are there
	WorktreePath    string        `json:"worktree_path"`
	EvidencePath    string        `json:"evidence_path"` // empty where there is none
	ReportPath      string        `json:"report_path"`   // likewise
	JournalPath     string        `json:"journal_path"`
}

// Story is one of a Result.
type Story struct {
	ID       string         `json:"id"`
	Title    string         `json:"title"`
	Passes   bool           `json:"passes"`
	Proven   bool           `json:"proven"`
	Result   journal.Result `json:"result"`   // empty while unknown
	Untested int            `json:"untested"` // places that no test needs
	Tests    []string       `json:"tests"`    // that are red at the base and green here
	Why      string         `json:"why"`
}

// Iteration is one of a Result.
type Iteration struct {
	Iteration          int           `json:"iteration"`
	Story              string        `json:"story"`
	StepsTaken         int           `json:"steps_taken"`
	Cost               *float64      `json:"cost"` // null where it is unknown
	Duration           float64       `json:"duration"`
	CheckResults       []CheckResult `json:"check_results"`
	AllChecksPassed    bool          `json:"all_checks_passed"`
	CompletionTagFound bool          `json:"completion_tag_found"`
	Error              *string       `json:"error"`
}

// CheckResult is one check of an Iteration.
type CheckResult struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Output string `json:"output"`
}

// Of returns a run for scripts. The caller adds the paths of files.
func Of(run journal.Run) Result {
	result := Result{
		Status:          policy.StatusRunning,
		RunID:           run.ID,
		TotalIterations: len(run.Iterations),
		Iterations:      make([]Iteration, 0, len(run.Iterations)),
		TotalCostUSD:    stream.Cost{USD: run.Spent.CostUSD, Known: run.Spent.CostKnown}.Amount(),
		TotalDurationS:  run.Clock.Now.Sub(run.Clock.Began).Seconds(),
		Branch:          run.Branch,
		Head:            run.Head,
		SandboxLevel:    run.Level,
		Undelivered:     run.Box.Delivered.LeftPaths(),
	}
	if run.Stop != nil {
		result.StopReason = run.Stop.Reason
		result.Status = run.Stop.Reason.Status()
		result.Success = result.Status == policy.StatusCompleted
	}
	result.Stories = make([]Story, 0, len(run.Plan.UserStories))
	for _, story := range run.Plan.UserStories {
		result.Stories = append(result.Stories, storyOf(run, story))
	}
	for _, it := range run.Iterations {
		result.Iterations = append(result.Iterations, iterationOf(run, it))
	}
	return result
}

func storyOf(run journal.Run, story plan.Story) Story {
	out := Story{
		ID:     story.ID,
		Title:  story.Title,
		Passes: story.Passes,
		Proven: verdict.IsStoryProven(run, story),
		Tests:  []string{},
	}
	if proof, found := run.StoryProof(story.ID); found {
		out.Result = proof.Result
		out.Why = proof.Why
		out.Untested = len(proof.Untested)
		out.Tests = append(out.Tests, proof.ProvingTests()...)
	}
	return out
}

func iterationOf(run journal.Run, it journal.Iteration) Iteration {
	out := Iteration{
		Iteration:       it.Number,
		Story:           it.Story,
		Duration:        it.Last.Sub(it.Began).Seconds(),
		CheckResults:    make([]CheckResult, 0, len(it.Checks)),
		AllChecksPassed: len(it.Checks) > 0 && verdict.IsGreen(run, it.Checks),
	}
	for _, check := range it.Checks {
		out.CheckResults = append(out.CheckResults, CheckResult{check.Name, check.Passed, check.Excerpt})
	}
	if it.Agent != nil {
		out.StepsTaken = it.Agent.Tools
		out.Cost = it.Agent.Cost.Amount()
		out.CompletionTagFound = verdict.HasCompletionWord(run.Policy, *it.Agent)
		if it.Agent.Failed {
			out.Error = &it.Agent.Why
		}
	}
	return out
}
