package evidence

// Said is one run of a command.
type Said struct {
	Name      string `json:"name"`                 // What the command is called.
	Command   string `json:"command"`              // The command itself.
	Exit      int    `json:"exit"`                 // Its exit code.
	Passed    bool   `json:"passed"`               // Whether it passed.
	TimedOut  bool   `json:"timed_out,omitempty"`  // Whether it was ended for taking too long.
	CannotRun bool   `json:"cannot_run,omitempty"` // Whether the command is missing or may not run.
	// The globs that it is limited to, where the change touches none: it did not run.
	Skipped string `json:"skipped,omitempty"`
	TookMS  int64  `json:"took_ms"` // How long it took, in milliseconds.
	// The sha256 of its log: the output, of which the middle is left out beyond 10 MiB.
	LogDigest string `json:"log_digest,omitempty"`
	// Whether it failed first, and not in the same way when it was run again.
	Flaky bool   `json:"flaky,omitempty"`
	Tests *Tests `json:"tests,omitempty"` // What its test runner told, where it told of tests.
}

// Tests is what a test runner told.
type Tests struct {
	Runner  string   `json:"runner"`            // Which it is.
	Passed  int      `json:"passed"`            // How many tests passed.
	Failed  int      `json:"failed"`            // How many failed.
	Skipped int      `json:"skipped,omitempty"` // How many were skipped.
	Red     []string `json:"red,omitempty"`     // Those that failed, by name, at most 200.
	Broken  []string `json:"broken,omitempty"`  // What failed and is no test, such as what did not build.
	Cut     bool     `json:"cut,omitempty"`     // Whether more failed than is named.
}

// Baseline is what was so before any work.
type Baseline struct {
	Usable bool   `json:"usable"`        // Whether any check could prove something.
	Why    string `json:"why,omitempty"` // What limits that.
	Checks []Said `json:"checks"`        // What each check said.
}

// Proof is a run of the checks on a clean checkout.
type Proof struct {
	Commit   string   `json:"commit"`             // The commit.
	Tree     string   `json:"tree"`               // Its tree.
	Passed   bool     `json:"passed"`             // Whether nothing held it back.
	Empty    bool     `json:"empty,omitempty"`    // Whether no check could prove anything.
	Reused   bool     `json:"reused,omitempty"`   // Whether the same tree had been checked before.
	Why      string   `json:"why,omitempty"`      // What has to be known of it.
	Restored []string `json:"restored,omitempty"` // Protected files that were put back to their base version for it.
	Setup    []Said   `json:"setup,omitempty"`    // What made the checkout ready.
	Checks   []Said   `json:"checks"`             // What each check said.
}
