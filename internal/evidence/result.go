package evidence

// Said is one run of a command.
type Said struct {
	// What the command is called.
	Name string `json:"name"`
	// The command itself.
	Command string `json:"command"`
	// Its exit code.
	Exit int `json:"exit"`
	// Whether it passed.
	Passed bool `json:"passed"`
	// Whether it was ended for taking too long.
	TimedOut bool `json:"timed_out,omitempty"`
	// Whether the command is missing or may not run.
	CannotRun bool `json:"cannot_run,omitempty"`
	// The globs that it is limited to, where the change touches none: it did not run.
	Skipped string `json:"skipped,omitempty"`
	// How long it took, in milliseconds.
	TookMS int64 `json:"took_ms"`
	// The sha256 of its log: the output, of which the middle is left out beyond 10 MiB.
	LogDigest string `json:"log_digest,omitempty"`
	// Whether it failed first, and not in the same way when it was run again.
	Flaky bool `json:"flaky,omitempty"`
	// What its test runner told, where it told of tests.
	Tests *Tests `json:"tests,omitempty"`
}

// Tests is what a test runner told.
type Tests struct {
	// Which it is.
	Runner string `json:"runner"`
	// How many tests passed.
	Passed int `json:"passed"`
	// How many failed.
	Failed int `json:"failed"`
	// How many were skipped.
	Skipped int `json:"skipped,omitempty"`
	// Those that failed, by name, at most 200.
	Red []string `json:"red,omitempty"`
	// What failed and is no test, such as what did not build.
	Broken []string `json:"broken,omitempty"`
	// Whether more failed than is named.
	Cut bool `json:"cut,omitempty"`
}

// Baseline is what was so before any work.
type Baseline struct {
	// Whether any check could prove something.
	Usable bool `json:"usable"`
	// What limits that.
	Why string `json:"why,omitempty"`
	// What each check said.
	Checks []Said `json:"checks"`
}

// Proof is a run of the checks on a clean checkout.
type Proof struct {
	// The commit.
	Commit string `json:"commit"`
	// Its tree.
	Tree string `json:"tree"`
	// Whether nothing held it back.
	Passed bool `json:"passed"`
	// Whether no check could prove anything.
	Empty bool `json:"empty,omitempty"`
	// Whether the same tree had been checked before.
	Reused bool `json:"reused,omitempty"`
	// What has to be known of it.
	Why string `json:"why,omitempty"`
	// Protected files that were put back to their base version for it.
	Restored []string `json:"restored,omitempty"`
	// What made the checkout ready.
	Setup []Said `json:"setup,omitempty"`
	// What each check said.
	Checks []Said `json:"checks"`
}
