// Package evidence writes the facts about a run into a file that can be verified against the repository: each story
// with its criteria, its commit, its checks and their results. It judges nothing and opens no file.
package evidence

import (
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Version is the version of the file. Read refuses other versions.
const Version = 1

// Evidence has the facts about a run.
type Evidence struct {
	Version int    `json:"version"` // Version of this file.
	Run     string `json:"run"`     // Id of the run.
	// Status of the run: completed, waiting, stopped, cancelled, failed or running.
	Status     policy.Status `json:"status"`
	StopReason policy.Reason `json:"stop_reason,omitempty"` // Reason why it stopped, in one word.
	Began      time.Time     `json:"began"`                 // Time of its first event.
	Ended      time.Time     `json:"ended"`                 // Time of its last event.
	// Programs of the run with their versions, if known.
	Tools       map[string]string `json:"tools"`
	Task        Task              `json:"task"`               // The task.
	Code        Code              `json:"code"`               // The code before and after.
	Rules       Rules             `json:"rules"`              // The rules for a proof.
	Baseline    *Baseline         `json:"baseline,omitempty"` // Results of the checks before any work.
	Stories     []Story           `json:"stories"`            // The stories, in the plan's order.
	Proof       *Proof            `json:"proof,omitempty"`    // The proof of the newest commit.
	Iterations  []Iteration       `json:"iterations"`         // The iterations of the agent.
	NotVerified []string          `json:"not_verified"`       // Texts about what is not verified.
	Cost        Cost              `json:"cost"`               // Cost of the run.
}

// Task is what a person asked for.
type Task struct {
	Kind   string `json:"kind"`             // issue, pull_request or prompt.
	Number int    `json:"number,omitempty"` // Number of the issue or pull request.
	Title  string `json:"title,omitempty"`  // Title of the task.
	Author string `json:"author,omitempty"` // Person who asked.
	Repo   string `json:"repo,omitempty"`   // Repository, as owner/name.
	URL    string `json:"url,omitempty"`    // Address of its page.
}

// Code names the commits before and after the work.
type Code struct {
	BaseRef string `json:"base_ref,omitempty"` // Base branch.
	Base    string `json:"base"`               // Commit of the base branch.
	Branch  string `json:"branch,omitempty"`   // Branch of the work.
	Head    string `json:"head"`               // Newest commit of the work.
	Tree    string `json:"tree"`               // Tree of that commit.
}

// Rules are the rules for a proof.
type Rules struct {
	Setup  []Command `json:"setup"`  // Commands that prepare a checkout, in order.
	Checks []Command `json:"checks"` // Commands that check the work.
	// Which failures block if a check failed at the base: new or strict.
	Baseline policy.Baseline `json:"baseline,omitempty"`
	// Effect of existing tests that fail or no longer run: report (a person has to look), block or allow.
	Tamper policy.Tamper     `json:"tamper,omitempty"`
	Proof  policy.ProofLevel `json:"proof"` // Proof that a story needs: red-to-green or unbroken.
	// Globs of files that a proof restores from the base.
	Protect []string `json:"protect"`
	// Folder of the repository in which the commands run (default: its top).
	Within string `json:"within,omitempty"`
	// Folder of the plan and the progress log (default: ralph).
	Memory  string `json:"memory,omitempty"`
	Sandbox string `json:"sandbox"` // Level of the sandbox.
}

// Review is a second opinion of another agent.
type Review struct {
	By               string   `json:"by"`                          // Name of the agent.
	Commit           string   `json:"commit"`                      // The reviewed commit.
	Looked           int      `json:"looked"`                      // Number of criteria that it checked.
	Missed           []string `json:"missed,omitempty"`            // Its objections, each with a line that shows it.
	Why              string   `json:"why,omitempty"`               // Reason why there is no opinion.
	TranscriptDigest string   `json:"transcript_digest,omitempty"` // SHA-256 of the agent's output.
}

// Command is a command of the rules.
type Command struct {
	Name    string `json:"name"`              // Name of the command.
	Command string `json:"command"`           // Shell command.
	Paths   string `json:"paths,omitempty"`   // Globs that limit it, separated by spaces.
	Timeout string `json:"timeout,omitempty"` // Time limit (default: no limit).
	// Whether it is from the task. Such a check can block the work, but proves nothing.
	Added bool `json:"added,omitempty"`
}

// Story is a story with its proof.
type Story struct {
	ID       string   `json:"id"`       // Id of the story.
	Title    string   `json:"title"`    // Title of the story.
	Criteria []string `json:"criteria"` // Conditions that are true when it is done.
	// Criteria that an agent added.
	Added []string `json:"added,omitempty"`
	// For each criterion, the test that the agent named, if it fails without the change, or an empty text.
	Shown []string `json:"shown,omitempty"`
	// Whether people decided that it needs no test.
	NeedsNoTest bool `json:"needs_no_test,omitempty"`
	// Whether people allowed it to change existing tests.
	MayChangeTests bool    `json:"may_change_tests,omitempty"`
	Passes         bool    `json:"passes"`               // Whether it passes.
	Proven         bool    `json:"proven"`               // Whether it is proven.
	Commit         string  `json:"commit,omitempty"`     // Commit with which it passed.
	Proof          *Proof  `json:"proof,omitempty"`      // Its proof, against the head before it.
	Review         *Review `json:"review,omitempty"`     // Second opinion.
	Iterations     []int   `json:"iterations,omitempty"` // Iterations that worked on it.
}

// Iteration is one pass of the loop.
type Iteration struct {
	Number           int    `json:"number"`                      // Number of the iteration.
	Story            string `json:"story,omitempty"`             // Id of its story.
	PromptDigest     string `json:"prompt_digest,omitempty"`     // SHA-256 of the prompt.
	TranscriptDigest string `json:"transcript_digest,omitempty"` // SHA-256 of the agent's output.
	Tools            int    `json:"tools"`                       // Number of tool calls.
	// Cost in dollars, if known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	Commits []string `json:"commits,omitempty"` // Its commits.
	// Protected files that it changed and that were restored.
	Dropped  []string            `json:"dropped,omitempty"`
	Checks   []CheckResult       `json:"checks,omitempty"`   // Results of the checks in its tree.
	Passed   []string            `json:"passed,omitempty"`   // Stories that passed in it.
	Rejected []journal.Rejection `json:"rejected,omitempty"` // Rejected claims.
}

// Cost is the cost of the agents.
type Cost struct {
	USD    float64      `json:"usd"`    // Cost in dollars.
	Known  bool         `json:"known"`  // Whether every agent reported its cost.
	Tokens stream.Usage `json:"tokens"` // Number of tokens.
}

// CheckResult is the result of a command.
type CheckResult struct {
	Name      string `json:"name"`                 // Name of the command.
	Command   string `json:"command"`              // Shell command.
	Exit      int    `json:"exit"`                 // Exit code.
	Passed    bool   `json:"passed"`               // Whether it passed.
	TimedOut  bool   `json:"timed_out,omitempty"`  // Whether it exceeded its time limit.
	CannotRun bool   `json:"cannot_run,omitempty"` // Whether the program is missing or must not be executed.
	// Globs that limit it, if the change matches none: it did not run.
	Skipped string `json:"skipped,omitempty"`
	TookMS  int64  `json:"took_ms"` // Time in milliseconds.
	// SHA-256 of its log, which has at most 10 MiB of its output, without the middle.
	LogDigest string `json:"log_digest,omitempty"`
	// Whether it failed first, and passed or failed differently when run again.
	Flaky bool   `json:"flaky,omitempty"`
	Tests *Tests `json:"tests,omitempty"` // Results of its tests, if its output has them.
}

// Tests are the results of a test runner.
type Tests struct {
	Passed  int      `json:"passed"`            // Number of tests that passed.
	Failed  int      `json:"failed"`            // Number of tests that failed.
	Skipped int      `json:"skipped,omitempty"` // Number of tests that were skipped.
	Red     []string `json:"red,omitempty"`     // Names of failed tests, at most 200.
	// Names of failures that are not tests, such as packages that do not build.
	Broken []string `json:"broken,omitempty"`
	Cut    bool     `json:"cut,omitempty"` // Whether more tests failed than are named.
}

// Baseline has the results of the checks before any work.
type Baseline struct {
	Usable bool          `json:"usable"`        // Whether any check could prove something.
	Why    string        `json:"why,omitempty"` // Limits of what they can prove.
	Checks []CheckResult `json:"checks"`        // Result of each check.
}

// Proof is the result of the checks on clean checkouts.
type Proof struct {
	Base   string `json:"base"`   // Commit before the change.
	Commit string `json:"commit"` // Commit with the change.
	Tree   string `json:"tree"`   // Tree of that commit.
	// Result: proven, no_new_failing_test, documents_only, tests_only, needs_review, failed or unknown.
	Result journal.Result `json:"result"`
	Why    string         `json:"why,omitempty"`    // Reason for the result.
	Reused bool           `json:"reused,omitempty"` // Whether a story's proof shows the whole change, too.
	Files  []string       `json:"files,omitempty"`  // Test files that the change adds or changes.
	Tests  []string       `json:"tests,omitempty"`  // Tests that fail on the base code and pass with the change.
	// Whether these tests only do not build on the base code.
	DoesNotBuild bool            `json:"does_not_build,omitempty"`
	Restored     []string        `json:"restored,omitempty"`      // Protected files that were restored from the base.
	Look         []journal.Look  `json:"look,omitempty"`          // Places for a person.
	Untested     []journal.Lines `json:"untested,omitempty"`      // Lines that no test needs.
	Tried        journal.Tried   `json:"untested_tried,omitzero"` // Places that were tried.
	Setup        []CheckResult   `json:"setup,omitempty"`         // Results of the setup commands.
	Head         []CheckResult   `json:"head"`                    // Results with the change.
	OldTests     []CheckResult   `json:"old_tests,omitempty"`     // Results of the base's tests on the new code.
	NewTests     []CheckResult   `json:"new_tests,omitempty"`     // Results of the change's tests on the base code.
}
