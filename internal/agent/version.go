package agent

import "github.com/ralph-loop/ralph/internal/pattern"

// versionSaid is a version as all the CLIs have it, with what may follow it:
// "2.1.328 (Claude Code)", "codex-cli 0.169.0", "0.0.1763-g1a2b3c".
var versionSaid = pattern.Of(`(?:^|[\sv@/])(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z][0-9A-Za-z.+-]*[0-9A-Za-z])?)`)

// ReadVersion finds the version in what a program prints when it is asked by
// its adapter's Version; known is false where there is none.
func ReadVersion(printed string) (version string, known bool) {
	m := versionSaid.FindStringSubmatch(head(printed, maxOutput))
	if m == nil {
		return "", false
	}
	return m[1], true
}
