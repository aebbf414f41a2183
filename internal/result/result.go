// Package result is a run as one JSON object for scripts: the output of
// --json and the output `result`.
package result

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Result is a run as scripts read it.
type Result struct {
	Status          policy.Status `json:"status"`
	StopReason      policy.Reason `json:"stop_reason"`
	Success         bool          `json:"success"`
	RunID           string        `json:"run_id"`
	TotalIterations int           `json:"total_iterations"`
	Iterations      []Pass        `json:"iterations"`
	TotalCostUSD    *float64      `json:"total_cost_usd"`        // as far as it is known; null where none of it is
	CountedUSD      float64       `json:"counted_usd,omitempty"` // against limits, if it is not the same
	TotalDurationS  float64       `json:"total_duration_s"`
	Stories         []Told        `json:"stories"`
	Branch          string        `json:"branch"`
	Head            string        `json:"head"`
	SandboxLevel    string        `json:"sandbox_level"`
	WorktreePath    string        `json:"worktree_path"`
	EvidencePath    string        `json:"evidence_path"` // empty where there is none
	ReportPath      string        `json:"report_path"`   // likewise
	JournalPath     string        `json:"journal_path"`
}

// Told is one story of a Result.
type Told struct {
	ID     string        `json:"id"`
	Title  string        `json:"title"`
	Passes bool          `json:"passes"`
	Proven bool          `json:"proven"`
	Grade  journal.Grade `json:"grade"` // empty while unknown
	Tests  []string      `json:"tests"` // that are red at the base and green here
	Why    string        `json:"why"`
}

// Pass is one iteration of a Result.
type Pass struct {
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

// CheckResult is one check of a Pass.
type CheckResult struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Output string `json:"output"`
}

// Of is run for scripts. Where its files lie only its owner knows.
func Of(run journal.Run) Result {
	result := Result{
		Status:          policy.StatusRunning,
		RunID:           run.ID,
		TotalIterations: len(run.Iterations),
		Iterations:      make([]Pass, 0, len(run.Iterations)),
		TotalCostUSD:    stream.Cost{USD: run.CostUSD, Known: run.CostKnown}.Amount(),
		TotalDurationS:  run.Now.Sub(run.Began).Seconds(),
		Branch:          run.Branch,
		Head:            run.Head,
		SandboxLevel:    run.Level,
	}
	if run.Stop != nil {
		result.StopReason = run.Stop.Reason
		result.Status = run.Stop.Reason.Status()
		result.Success = result.Status == policy.StatusCompleted
	}
	if !run.CostKnown || run.ChargedUSD > 0 {
		result.CountedUSD = run.TotalUSD()
	}
	result.Stories = make([]Told, 0, len(run.Plan.UserStories))
	for _, story := range run.Plan.UserStories {
		result.Stories = append(result.Stories, toldOf(run, story))
	}
	for _, it := range run.Iterations {
		result.Iterations = append(result.Iterations, pass(run, it))
	}
	return result
}

func toldOf(run journal.Run, story plan.Story) Told {
	told := Told{ID: story.ID, Title: story.Title, Passes: story.Passes, Proven: verdict.IsStoryProven(run, story), Tests: []string{}}
	if graded, found := run.GradeOf(story.ID); found {
		told.Grade, told.Why = graded.Grade, graded.Why
		if verdict.MeetsBar(run, story, graded.Grade) {
			told.Why = cmp.Or(told.Why, verdict.InspectionConcern(run))
		}
		told.Tests = append(told.Tests, graded.ProvingTests()...)
	}
	return told
}

func pass(run journal.Run, it journal.Iteration) Pass {
	told := Pass{
		Iteration:       it.Number,
		Story:           it.Story,
		Duration:        it.Last.Sub(it.Began).Seconds(),
		CheckResults:    make([]CheckResult, 0, len(it.Checks)),
		AllChecksPassed: verdict.IsGreen(run, it.Checks),
	}
	for _, check := range it.Checks {
		told.CheckResults = append(told.CheckResults, CheckResult{check.Name, check.Passed, check.Excerpt})
	}
	if it.Agent != nil {
		told.StepsTaken, told.Cost = it.Agent.Tools, it.Agent.Cost.Amount()
		told.CompletionTagFound = verdict.HasCompletionWord(run.Policy, *it.Agent)
		if it.Agent.Failed {
			told.Error, told.AllChecksPassed = &it.Agent.Why, told.AllChecksPassed && len(it.Checks) > 0
		}
	}
	return told
}
