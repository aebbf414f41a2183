package plan

import (
	"slices"
	"strings"
)

// MergeLog takes over what an agent may change in the progress log: all above
// its line, and what is new below. What stood below and is gone is put back,
// above what is new. A log without a line is the agent's own.
func MergeLog(kept, proposed string) (log string, cut bool) {
	before, found := divide(kept)
	entries := strings.TrimSpace(before.entries)
	if !found || strings.Contains(proposed, entries) {
		return proposed, false
	}
	after, found := divide(proposed)
	if !found {
		after = divided{before.head, proposed}
	}
	log = strings.TrimSpace(after.head) + "\n\n" + entries + "\n"
	if fresh := added(kept, after.entries); fresh != "" {
		log += "\n" + fresh + "\n"
	}
	return log, true
}

// divided is a log above its line, which is the first there is, and below.
type divided struct{ head, entries string }

func divide(log string) (d divided, found bool) {
	end := 0
	for line := range strings.Lines(log) {
		end += len(line)
		if strings.TrimSpace(line) == "---" {
			return divided{log[:end], log[end:]}, true
		}
	}
	return divided{head: log}, false
}

// added are the lines of a text that do not stand in another.
func added(kept, text string) string {
	known := map[string]bool{}
	for line := range strings.Lines(kept) {
		known[strings.TrimSpace(line)] = true
	}
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && known[line]
	})
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
