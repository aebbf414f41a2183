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
	// The version of this file.
	Version int `json:"version"`
	// The run's id.
	Run string `json:"run"`
	// How the run stands: completed, waiting, stopped, cancelled, failed or running.
	Status policy.Status `json:"status"`
	// Why it stopped, in one word.
	StopReason policy.Reason `json:"stop_reason,omitempty"`
	// When it began.
	Began time.Time `json:"began"`
	// When its last event was.
	Ended time.Time `json:"ended"`
	// The programs that made this, with their versions as far as they are known.
	Tools map[string]string `json:"tools"`
	// What was asked for.
	Task Task `json:"task"`
	// The code before and after.
	Code Code `json:"code"`
	// What the checks had to be.
	Rules Rules `json:"rules"`
	// What they said before any work.
	Baseline *Baseline `json:"baseline,omitempty"`
	// The stories, in the plan's order.
	Stories []Story `json:"stories"`
	// The proof of the newest commit.
	Proof *Proof `json:"proof,omitempty"`
	// What the existing tests say of the change, where they were asked.
	Inspection *Inspection `json:"inspection,omitempty"`
	// What the agent did, pass by pass.
	Iterations []Iteration `json:"iterations"`
	// What is not verified, in words.
	NotVerified []string `json:"not_verified"`
	// What all of it cost.
	Cost Cost `json:"cost"`
}

// Task is what was asked for, and by whom.
type Task struct {
	// issue, pull_request or prompt.
	Kind string `json:"kind"`
	// Its number.
	Number int `json:"number,omitempty"`
	// Its title.
	Title string `json:"title,omitempty"`
	// Who asked.
	Author string `json:"author,omitempty"`
	// The repository, as owner/name.
	Repo string `json:"repo,omitempty"`
	// Its page.
	URL string `json:"url,omitempty"`
}

// Code is where the work began and where it led.
type Code struct {
	// The branch the work is for.
	BaseRef string `json:"base_ref,omitempty"`
	// Its commit.
	Base string `json:"base"`
	// The branch of the work.
	Branch string `json:"branch,omitempty"`
	// Its newest commit.
	Head string `json:"head"`
	// The tree of that commit.
	Tree string `json:"tree"`
}

// Rules are what a proof is by.
type Rules struct {
	// The commands that make a checkout ready, in their order.
	Setup []Command `json:"setup"`
	// The commands that judge the work.
	Checks []Command `json:"checks"`
	// What a red check at the base means: new or strict.
	Baseline policy.Baseline `json:"baseline,omitempty"`
	// What happens when existing tests fail on the new code or no longer run: report (a person has to look), block or allow.
	Tamper policy.Tamper `json:"tamper,omitempty"`
	// What makes a story proven: red-to-green or unbroken.
	Proof policy.ProofLevel `json:"proof"`
	// Globs of the files that are put back to their base version for a proof.
	Protect []string `json:"protect"`
	// The folder of the repository in which the commands run; its top where empty.
	Within string `json:"within,omitempty"`
	// The folder of the plan and the progress log; the usual one where empty.
	Memory string `json:"memory,omitempty"`
	// What confined the agent.
	Sandbox string `json:"sandbox"`
}

// Review is a second opinion.
type Review struct {
	// The agent that gave it.
	By string `json:"by"`
	// The commit that it is of.
	Commit string `json:"commit"`
	// How many criteria it says something of.
	Looked int `json:"looked"`
	// What it misses, each with a line that shows it.
	Missed []string `json:"missed,omitempty"`
	// Why there is no opinion.
	Why string `json:"why,omitempty"`
	// The sha256 of all that the agent printed.
	TranscriptDigest string `json:"transcript_digest,omitempty"`
}

// Inspection is what the tests that were there before say of the whole change.
type Inspection struct {
	// The existing tests that fail or no longer run, by file, at most 50.
	Found []Loosened `json:"found"`
	// How many there are besides.
	More int `json:"more,omitempty"`
	// The existing tests that were changed, and hold nothing back, at most 50.
	Shown []Loosened `json:"shown,omitempty"`
	// Why the existing tests could not be run.
	Why string `json:"why,omitempty"`
}

// Loosened is a file of existing tests that were changed or no longer pass.
type Loosened struct {
	// The file.
	File string `json:"file"`
	// tests_broken, tests_gone, tests_changed, tests_steered or asks_for_tests, as docs/proof.md explains them.
	Kind string `json:"kind"`
	// What it is, in words.
	Why string `json:"why"`
	// Lines of the diff.
	Lines []string `json:"lines,omitempty"`
	// The tests, by name; "check NAME" where a runner names none.
	Tests []string `json:"tests,omitempty"`
}

// Command is one that was to be run.
type Command struct {
	// What it is called.
	Name string `json:"name"`
	// The command, for a shell.
	Command string `json:"command"`
	// The globs that it is limited to, with spaces between.
	Paths string `json:"paths,omitempty"`
	// How long it may take; none where it may take as long as it likes.
	Timeout string `json:"timeout,omitempty"`
	// Whether the task itself brought it: it may hold back, and proves nothing.
	Added bool `json:"added,omitempty"`
}

// Story is one story and what it rests on.
type Story struct {
	// Its id.
	ID string `json:"id"`
	// What it is.
	Title string `json:"title"`
	// What has to be true when it is done.
	Criteria []string `json:"criteria"`
	// Those of them that an agent added while it worked.
	Added []string `json:"added,omitempty"`
	// For each of the criteria, the test that the agent named and that went from red to green; empty where there is none.
	Shown []string `json:"shown,omitempty"`
	// Whether people marked it as one that needs no test of its own.
	NeedsNoTest bool `json:"needs_no_test,omitempty"`
	// Whether people allowed it to change what existing tests expect.
	MayChangeTests bool `json:"may_change_tests,omitempty"`
	// Whether it passes.
	Passes bool `json:"passes"`
	// Whether it is proven.
	Proven bool `json:"proven"`
	// red to green, unbroken or unverified; empty while unknown.
	Grade journal.Grade `json:"grade,omitempty"`
	// Why it is no more than that.
	Why string `json:"why,omitempty"`
	// The commit that it passed with.
	Commit string `json:"commit,omitempty"`
	// Its tests and what serves them, as files.
	Files []string `json:"files,omitempty"`
	// The tests, by name, that are red on the base code and green with the change.
	Tests []string `json:"tests,omitempty"`
	// What the checks said of the base code with its tests.
	OnBase []Said `json:"on_base,omitempty"`
	// The proof of its commit.
	Proof *Proof `json:"proof,omitempty"`
	// A second opinion, where one was asked for.
	Review *Review `json:"review,omitempty"`
	// The iterations that worked on it.
	Iterations []int `json:"iterations,omitempty"`
}

// Iteration is one pass of the loop.
type Iteration struct {
	// Its number.
	Number int `json:"number"`
	// The story it was for.
	Story string `json:"story,omitempty"`
	// The sha256 of the prompt.
	PromptDigest string `json:"prompt_digest,omitempty"`
	// The sha256 of all that the agent printed.
	TranscriptDigest string `json:"transcript_digest,omitempty"`
	// How many tools the agent called.
	Tools int `json:"tools"`
	// What it cost, in dollars. Absent where it is unknown.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// The commits it left.
	Commits []string `json:"commits,omitempty"`
	// Protected files that it changed and that were put back.
	Dropped []string `json:"dropped,omitempty"`
	// What the checks said in its tree.
	Checks []Said `json:"checks,omitempty"`
	// The stories that passed in it.
	Passed []string `json:"passed,omitempty"`
	// The claims that were not believed, and why.
	Rejected []Rejection `json:"rejected,omitempty"`
}

// Rejection is a claim that was not believed.
type Rejection struct {
	// What was claimed.
	Claim string `json:"claim"`
	// Why it was not believed.
	Why string `json:"why"`
}

// Cost is what the agents took.
type Cost struct {
	// In dollars.
	USD float64 `json:"usd"`
	// Whether every agent told what it cost.
	Known bool `json:"known"`
	// In tokens.
	Tokens stream.Usage `json:"tokens"`
}
