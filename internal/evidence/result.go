package evidence

// Result is the result of a command.
type Result struct {
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
	Runner  string   `json:"runner"`            // Name of the test runner.
	Passed  int      `json:"passed"`            // Number of tests that passed.
	Failed  int      `json:"failed"`            // Number of tests that failed.
	Skipped int      `json:"skipped,omitempty"` // Number of tests that were skipped.
	Red     []string `json:"red,omitempty"`     // Names of failed tests, at most 200.
	Broken  []string `json:"broken,omitempty"`  // Names of failures that are not tests, such as packages that do not build.
	Cut     bool     `json:"cut,omitempty"`     // Whether more tests failed than are named.
}

// Baseline has the results of the checks before any work.
type Baseline struct {
	Usable bool     `json:"usable"`        // Whether any check could prove something.
	Why    string   `json:"why,omitempty"` // Limits of what they can prove.
	Checks []Result `json:"checks"`        // Result of each check.
}

// Proof is a run of the checks on a clean checkout.
type Proof struct {
	Commit   string   `json:"commit"`             // Commit of the checkout.
	Tree     string   `json:"tree"`               // Tree of that commit.
	Passed   bool     `json:"passed"`             // Whether no check blocked it.
	Empty    bool     `json:"empty,omitempty"`    // Whether no check could prove anything.
	Reused   bool     `json:"reused,omitempty"`   // Whether the result is from an earlier proof of the same tree.
	Why      string   `json:"why,omitempty"`      // Reason for the result, or a remark about it.
	Restored []string `json:"restored,omitempty"` // Protected files that were restored from the base.
	Setup    []Result `json:"setup,omitempty"`    // Results of the setup commands.
	Checks   []Result `json:"checks"`             // Result of each check.
}
