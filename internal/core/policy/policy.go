// Package policy defines what counts as done and when a run gives up. A preset is a
// policy with a name. Package verdict takes the decisions.
package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Policy holds the rules of a whole run. The journal's first event carries it, so that a resumed run needs no settings.
type Policy struct {
	Done       Done       `json:"done,omitempty"` // ByStories where empty
	Word       string     `json:"word,omitempty"` // the agent's word that completes the run; ByStories needs none
	Agent      string     `json:"agent"`
	Model      string     `json:"model,omitempty"`
	PromptFile string     `json:"prompt_file,omitempty"` // read again for every iteration
	Subfolder  string     `json:"within,omitempty"`      // folder in which the agent and the checks run; empty: the top
	Memory     string     `json:"memory,omitempty"`      // folder of the plan and the progress log; empty: the default
	Checks     []Check    `json:"checks,omitempty"`
	Setup      []Check    `json:"setup,omitempty"` // run before the checks in a new checkout, in their order
	Excerpt    Excerpt    `json:"excerpt,omitzero"`
	Baseline   Baseline   `json:"baseline,omitempty"` // empty: checks are not run before the work
	Proof      ProofLevel `json:"proof,omitempty"`    // what makes a story proven
	Review     Review     `json:"review,omitzero"`    // who is asked for a second opinion
	Tamper     Tamper     `json:"tamper,omitempty"`   // if existing tests fail or are gone; empty: they do not run
	Untested   Untested   `json:"untested,omitzero"`  // lines that no test needs
	Tests      Tests      `json:"tests,omitzero"`     // which files are tests, and which checks run them
	Reports    []string   `json:"reports,omitempty"`  // globs of JUnit XML files that the checks write
	Limits     Limits     `json:"limits"`
	Protect    []string   `json:"protect,omitempty"`  // globs of files an agent's work may not change
	Worktree   bool       `json:"worktree,omitempty"` // the work is for a linked worktree, on a branch of its own
	Boxed      bool       `json:"boxed,omitempty"`    // the work goes from a box to the user's folder
	Publish    bool       `json:"publish"`            // work goes to a branch and a pull request
	NoPull     bool       `json:"no_pull,omitempty"`  // work goes to a branch alone
	Draft      bool       `json:"draft,omitempty"`    // the pull request stays a draft even when proven
	SaveRun    bool       `json:"shelve,omitempty"`   // the run is saved where another machine can resume it
	Approval   bool       `json:"approval,omitempty"` // work begins after a person has approved the plan
	Sign       bool       `json:"sign,omitempty"`     // GitHub makes commits again, and signs them, before the push
	SignOff    bool       `json:"sign_off,omitempty"` // every commit gets a Signed-off-by line
	ShowCount  bool       `json:"count,omitempty"`    // the prompt begins with the number of the iteration
	SCM        SCM        `json:"scm,omitzero"`

	Supervision Supervision  `json:"supervision,omitzero"`
	Session     SessionRules `json:"session,omitzero"`
}

// SCM is a version control program to run after the checks passed.
type SCM struct {
	// Program, such as git.
	Command string `json:"command,omitzero" jsonschema:"pattern=\\S,example=git"`
	// Subcommands in order; a commit gets a message from the agent.
	Tasks []string `json:"tasks" jsonschema:"pattern=\\S,example=commit,example=push"`
}

// Excerpt is the part of a check's output for prompts and reports.
type Excerpt struct {
	Chars int  `json:"chars,omitempty"`
	Head  bool `json:"head,omitempty"` // its beginning, not its end
}

// Baseline says how to count a check that failed before the work began.
type Baseline string

// BaselineNew lets only new failures block; BaselineStrict lets all block.
const (
	BaselineNew    Baseline = "new"
	BaselineStrict Baseline = "strict"
)

// ProofLevel is the grade that a story needs to be proven; RedToGreen if empty.
type ProofLevel string

// RedToGreen: a test of the story fails without its change and passes with it.
// Unbroken: it is enough that nothing that passed before fails.
const (
	RedToGreen ProofLevel = "red-to-green"
	Unbroken   ProofLevel = "unbroken"
)

// Review is another agent for second opinions, which only reads.
type Review struct {
	// Name of an agent, or a program with arguments, split as a shell does.
	Agent string `json:"agent,omitzero" jsonschema:"pattern=\\S,example=codex" check:"command"`
	// Model, by the agent's name for it.
	Model string `json:"model,omitzero" jsonschema:"pattern=\\S"`
}

// Tamper is what happens when existing tests fail on the new code or no longer run.
type Tamper string

// TamperReport: a person looks at it before any story is proven. TamperBlock: no
// story passes either. TamperAllow: it is only shown.
const (
	TamperReport Tamper = "report"
	TamperBlock  Tamper = "block"
	TamperAllow  Tamper = "allow"
)

// Untested says what to do about changed lines that no test needs.
type Untested struct {
	Do  UntestedAction `json:"do,omitempty"`
	Max int            `json:"max,omitempty"` // places to try for a story; 0: the default
}

// UntestedAction is report if it is empty.
type UntestedAction string

// UntestedReport lists the lines, UntestedBlock rejects the story, UntestedOff does not look for them.
const (
	UntestedReport UntestedAction = "report"
	UntestedBlock  UntestedAction = "block"
	UntestedOff    UntestedAction = "off"
)

// Tests says what the paths and commands of a project do not show.
type Tests struct {
	// Globs of files that are tests, besides those with the usual names.
	Files []string `json:"files,omitempty" jsonschema:"pattern=\\S,example=checks/**" check:"glob"`
	// Names of the checks that run tests (default: found by runner and reports).
	Checks []string `json:"checks,omitempty" jsonschema:"pattern=\\S"`
}

// Check is a command whose exit code verifies the work.
type Check struct {
	Name       string     `json:"name"`
	Command    string     `json:"command"`
	Paths      string     `json:"paths,omitempty"` // space-separated globs: it runs if one is touched; empty: always
	Timeout    Duration   `json:"timeout,omitempty"`
	FailAction FailAction `json:"fail_action,omitempty"`
	Hint       string     `json:"hint,omitempty"`     // for the agent, when it fails
	Added      bool       `json:"added,omitempty"`    // by the task: it may block, and proves nothing
	Detected   bool       `json:"detected,omitempty"` // not configured: it counts if it passes at the base
}

// CheckNamed returns the check of that name; the zero check if there is none.
func (p Policy) CheckNamed(name string) Check {
	for _, check := range p.Checks {
		if check.Name == name {
			return check
		}
	}
	return Check{}
}

// FailAction says where a failure goes in the next prompt.
type FailAction string

// A failure goes after the prompt, before it, or in its place.
const (
	Append  FailAction = "APPEND"
	Prepend FailAction = "PREPEND"
	Replace FailAction = "REPLACE"
)

// Limits end a run that does not complete; 0 turns one off.
type Limits struct {
	Iterations int      `json:"iterations,omitempty"`
	CostUSD    float64  `json:"cost_usd,omitempty"`
	Tokens     int64    `json:"tokens,omitempty"` // in and out, cached or not
	Run        Duration `json:"run,omitempty"`
	Iteration  Duration `json:"iteration,omitempty"`
	Idle       Duration `json:"idle,omitempty"`     // how long an agent may print nothing
	Stall      int      `json:"stall,omitempty"`    // iterations in a row with the same result
	Failures   int      `json:"failures,omitempty"` // failed agents in a row
}

// Min returns the lower of each two limits.
func (l Limits) Min(other Limits) Limits {
	return Limits{
		Iterations: MinLimit(l.Iterations, other.Iterations),
		CostUSD:    MinLimit(l.CostUSD, other.CostUSD),
		Tokens:     MinLimit(l.Tokens, other.Tokens),
		Run:        MinLimit(l.Run, other.Run),
		Iteration:  MinLimit(l.Iteration, other.Iteration),
		Idle:       MinLimit(l.Idle, other.Idle),
		Stall:      MinLimit(l.Stall, other.Stall),
		Failures:   MinLimit(l.Failures, other.Failures),
	}
}

// MinLimit returns the lower of two limits. 0 is no limit.
func MinLimit[N int | int64 | float64 | Duration](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// DefaultCheckTimeout limits a check without a timeout of its own.
const DefaultCheckTimeout = Duration(10 * time.Minute)

// Duration is a time.Duration that people write as "90", "90s", "1h30m" or "1d".
type Duration time.Duration

// ParseDuration reads seconds, or a Go duration, which may begin with days. None is below zero or too large.
func ParseDuration(text string) (Duration, error) {
	long := text
	if number, rest, found := strings.Cut(text, "d"); found {
		if days, err := strconv.ParseFloat(number, 64); err == nil {
			long = strconv.FormatFloat(24*days, 'f', -1, 64) + "h" + rest
		}
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		// Spelled out, as neither NaN nor what is too large is a duration then.
		long = strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
	}
	d, err := time.ParseDuration(long)
	if err != nil || d < 0 || strings.ContainsAny(text, "xX") { // no hexadecimal numbers
		return 0, fmt.Errorf("%q is not a duration: write seconds (90) or units (1h30m, 1d)", text)
	}
	return Duration(d), nil
}

// Std returns d for the standard library.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is d without trailing zero units: "2h", not "2h0m0s".
func (d Duration) String() string { return FormatDuration(time.Duration(d)) }

// MarshalText writes d as people do.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText and people write.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	*d = parsed
	return err
}

// FormatDuration returns d as people write it: "1.2s", "6m7s", "2h".
func FormatDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return strings.NewReplacer("h0m0s", "h", "h0m", "h", "m0s", "m").Replace(d.Round(time.Second).String())
}

// NewSetup makes setup steps. They keep their order, and equal ones run twice, unlike checks.
func NewSetup(commands []string, timeout Duration) []Check {
	var all []Check
	for _, command := range commands {
		all = append(all, Check{Name: shortName(command, all), Command: command, Timeout: timeout})
	}
	return all
}
