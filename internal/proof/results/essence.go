package results

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

var (
	// frame matches a line of a stack trace of JavaScript or Java; in a test's TAP output there is no "at".
	frame = pattern.Of(`^\s*at \S.*(?:\)|:\d+:\d+)$|^ {4,}(?:(?:async )?[\w.<>]+ \()?\S+:\d+:\d+\)?$`)
	// advice matches what npm, make's shells and TAP add to every failure.
	advice = pattern.Of(`^npm (?:error|ERR!)(?:\s*$| A complete log of this run | .*-debug-\d+\.log$| Run "npm help |` +
		` (?:Usage|Options):| aliases: | \[--| code \S+$| Clean install a project| npm \w+$| Lifecycle script )|` +
		`^exit status \d+$|` +
		`^\s+(?:---|(?:error|stack): \|-|(?:duration_ms|location|failureType|type): .*)$`)
	// statement matches a line that states what failed, in the output of common test runners and of npm.
	statement = pattern.Of(`^--- FAIL: |^\s*not ok |^E {3,}\S|^panic: | panicked at |\bassertion .*failed|` +
		`^\s*expect\(|Failed asserting|Failure/Error:|` +
		`(?:^|[\s.])\w*(?:Error|Exception|Failure)(?: \[\w+\])?: |^npm (?:error|ERR!) \S`)
	// mayFail matches TAP's mark of tests that may fail.
	mayFail = pattern.Of(`(?i)^\s*not ok .*[^\\]# *(todo|skip)`)
)

// StatesFailure reports whether a line of an output states what failed: a failed test, an assertion or an error.
func StatesFailure(line string) bool {
	return statement.MatchString(line) && !mayFail.MatchString(line)
}

// Essential returns the lines of an output without blank ones, frames of stack traces and general advice. If all lines
// are such, it returns those that are not blank.
func Essential(output string) []string {
	var all, essential []string
	for line := range strings.SplitSeq(output, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		all = append(all, line)
		if frame.MatchString(line) || advice.MatchString(line) {
			continue
		}
		essential = append(essential, line)
	}
	if len(essential) == 0 {
		return all
	}
	return essential
}
