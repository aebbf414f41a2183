// Package evidence writes the facts behind a run's pull request into a file
// that can be verified against the repository: each story with its criteria,
// its commit, its checks and their results. It judges nothing and opens no
// file.
package evidence

import (
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Version is the version of the file. Another one is refused.
const Version = 1

// Evidence is what a run rests on.
type Evidence struct {
	Version int    `json:"version"` // The version of this file.
	Run     string `json:"run"`     // The run's id.
	// How the run stands: completed, waiting, stopped, cancelled, failed or running.
	Status     policy.Status `json:"status"`
	StopReason policy.Reason `json:"stop_reason,omitempty"` // Why it stopped, in one word.
	Began      time.Time     `json:"began"`                 // When it began.
	Ended      time.Time     `json:"ended"`                 // When its last event was.
	// The programs that made this, with their versions as far as they are known.
	Tools    map[string]string `json:"tools"`
	Task     Task              `json:"task"`               // What was asked for.
	Code     Code              `json:"code"`               // The code before and after.
	Rules    Rules             `json:"rules"`              // What the checks had to be.
	Baseline *Baseline         `json:"baseline,omitempty"` // What they said before any work.
	Stories  []Story           `json:"stories"`            // The stories, in the plan's order.
	Proof    *Proof            `json:"proof,omitempty"`    // The proof of the newest commit.
	// What the existing tests say of the change, where they were asked.
	Inspection  *Inspection `json:"inspection,omitempty"`
	Iterations  []Iteration `json:"iterations"`   // What the agent did, pass by pass.
	NotVerified []string    `json:"not_verified"` // What is not verified, in words.
	Cost        Cost        `json:"cost"`         // What all of it cost.
}

// Task is what was asked for, and by whom.
type Task struct {
	Kind   string `json:"kind"`             // issue, pull_request or prompt.
	Number int    `json:"number,omitempty"` // Its number.
	Title  string `json:"title,omitempty"`  // Its title.
	Author string `json:"author,omitempty"` // Who asked.
	Repo   string `json:"repo,omitempty"`   // The repository, as owner/name.
	URL    string `json:"url,omitempty"`    // Its page.
}

// Code is where the work began and where it led.
type Code struct {
	BaseRef string `json:"base_ref,omitempty"` // The branch the work is for.
	Base    string `json:"base"`               // Its commit.
	Branch  string `json:"branch,omitempty"`   // The branch of the work.
	Head    string `json:"head"`               // Its newest commit.
	Tree    string `json:"tree"`               // The tree of that commit.
}

// Rules are what a proof is by.
type Rules struct {
	Setup    []Command       `json:"setup"`              // The commands that make a checkout ready, in their order.
	Checks   []Command       `json:"checks"`             // The commands that judge the work.
	Baseline policy.Baseline `json:"baseline,omitempty"` // What a red check at the base means: new or strict.
	// What happens when existing tests fail on the new code or no longer run: report (a person has to look), block or allow.
	Tamper policy.Tamper     `json:"tamper,omitempty"`
	Proof  policy.ProofLevel `json:"proof"` // What makes a story proven: red-to-green or unbroken.
	// Globs of the files that are put back to their base version for a proof.
	Protect []string `json:"protect"`
	// The folder of the repository in which the commands run; its top where empty.
	Within string `json:"within,omitempty"`
	// The folder of the plan and the progress log; the usual one where empty.
	Memory  string `json:"memory,omitempty"`
	Sandbox string `json:"sandbox"` // What confined the agent.
}

// Review is a second opinion.
type Review struct {
	By               string   `json:"by"`                          // The agent that gave it.
	Commit           string   `json:"commit"`                      // The commit that it is of.
	Looked           int      `json:"looked"`                      // How many criteria it says something of.
	Missed           []string `json:"missed,omitempty"`            // What it misses, each with a line that shows it.
	Why              string   `json:"why,omitempty"`               // Why there is no opinion.
	TranscriptDigest string   `json:"transcript_digest,omitempty"` // The sha256 of all that the agent printed.
}

// Inspection is what the tests that were there before say of the whole change.
type Inspection struct {
	Found []Loosened `json:"found"`          // The existing tests that fail or no longer run, by file, at most 50.
	More  int        `json:"more,omitempty"` // How many there are besides.
	// The existing tests that were changed, and hold nothing back, at most 50.
	Shown []Loosened `json:"shown,omitempty"`
	Why   string     `json:"why,omitempty"` // Why the existing tests could not be run.
}

// Loosened is a file of existing tests that were changed or no longer pass.
type Loosened struct {
	File string `json:"file"` // The file.
	// tests_broken, tests_gone, tests_changed, tests_steered or asks_for_tests, as docs/proof.md explains them.
	Kind  string   `json:"kind"`
	Why   string   `json:"why"`             // What it is, in words.
	Lines []string `json:"lines,omitempty"` // Lines of the diff.
	Tests []string `json:"tests,omitempty"` // The tests, by name; "check NAME" where a runner names none.
}

// Command is one that was to be run.
type Command struct {
	Name    string `json:"name"`              // What it is called.
	Command string `json:"command"`           // The command, for a shell.
	Paths   string `json:"paths,omitempty"`   // The globs that it is limited to, with spaces between.
	Timeout string `json:"timeout,omitempty"` // How long it may take; none where it may take as long as it likes.
	// Whether the task itself brought it: it may hold back, and proves nothing.
	Added bool `json:"added,omitempty"`
}

// Story is one story and what it rests on.
type Story struct {
	ID       string   `json:"id"`       // Its id.
	Title    string   `json:"title"`    // What it is.
	Criteria []string `json:"criteria"` // What has to be true when it is done.
	// Those of them that an agent added while it worked.
	Added []string `json:"added,omitempty"`
	// For each of the criteria, the test that the agent named and that went from red to green; empty where there is none.
	Shown []string `json:"shown,omitempty"`
	// Whether people marked it as one that needs no test of its own.
	NeedsNoTest bool `json:"needs_no_test,omitempty"`
	// Whether people allowed it to change what existing tests expect.
	MayChangeTests bool `json:"may_change_tests,omitempty"`
	Passes         bool `json:"passes"` // Whether it passes.
	Proven         bool `json:"proven"` // Whether it is proven.
	// red to green, unbroken or unverified; empty while unknown.
	Grade  journal.Grade `json:"grade,omitempty"`
	Why    string        `json:"why,omitempty"`    // Why it is no more than that.
	Commit string        `json:"commit,omitempty"` // The commit that it passed with.
	Files  []string      `json:"files,omitempty"`  // Its tests and what serves them, as files.
	// The tests, by name, that are red on the base code and green with the change.
	Tests []string `json:"tests,omitempty"`
	// What the checks said of the base code with its tests.
	OnBase     []Said  `json:"on_base,omitempty"`
	Proof      *Proof  `json:"proof,omitempty"`      // The proof of its commit.
	Review     *Review `json:"review,omitempty"`     // A second opinion, where one was asked for.
	Iterations []int   `json:"iterations,omitempty"` // The iterations that worked on it.
}

// Iteration is one pass of the loop.
type Iteration struct {
	Number           int    `json:"number"`                      // Its number.
	Story            string `json:"story,omitempty"`             // The story it was for.
	PromptDigest     string `json:"prompt_digest,omitempty"`     // The sha256 of the prompt.
	TranscriptDigest string `json:"transcript_digest,omitempty"` // The sha256 of all that the agent printed.
	Tools            int    `json:"tools"`                       // How many tools the agent called.
	// What it cost, in dollars. Absent where it is unknown.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	Commits []string `json:"commits,omitempty"` // The commits it left.
	// Protected files that it changed and that were put back.
	Dropped  []string    `json:"dropped,omitempty"`
	Checks   []Said      `json:"checks,omitempty"`   // What the checks said in its tree.
	Passed   []string    `json:"passed,omitempty"`   // The stories that passed in it.
	Rejected []Rejection `json:"rejected,omitempty"` // The claims that were not believed, and why.
}

// Rejection is a claim that was not believed.
type Rejection struct {
	Claim string `json:"claim"` // What was claimed.
	Why   string `json:"why"`   // Why it was not believed.
}

// Cost is what the agents took.
type Cost struct {
	USD    float64      `json:"usd"`    // In dollars.
	Known  bool         `json:"known"`  // Whether every agent told what it cost.
	Tokens stream.Usage `json:"tokens"` // In tokens.
}
