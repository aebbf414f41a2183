package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// barred is what the wall refused of what those inside asked for, with the line
// that would allow it.
func barred(e journal.EgressRefused) string {
	text := "refused by the wall: " + one(e.What) + ": " + one(e.Why)
	if e.Input != "" {
		text += " – this would allow it: " + one(e.Input)
	}
	return text
}

// refused are the newest refusals, and how many came before them.
func refused(run journal.Run) []string {
	var said []string
	if older := len(run.Refused) - most; older > 0 {
		said = append(said, fmt.Sprintf("%d older ones are in the journal", older))
	}
	for _, e := range run.Refused[max(len(run.Refused)-most, 0):] {
		text := Code(e.What, 200) + ": " + first(e.Why)
		if e.Input != "" {
			text += "; this would allow it: " + Code(e.Input, 200)
		}
		said = append(said, text)
	}
	return said
}

// mostPassed is how many hosts a line tells of by name.
const mostPassed = 3

// through is what passed in an iteration, as the log has it.
func through(e journal.EgressPassed) (said []saying) {
	all := slices.Clone(e.Hosts)
	if e.Rest != nil {
		all = append(all, *e.Rest)
	}
	if passed := traffic(all, one); passed != "" {
		said = append(said, within(plainSign, "passed through the wall: "+passed))
	}
	if e.ChargedUSD > 0 {
		said = append(said, within(plainSign, "counted against the budget for answers without a count or a price: "+money(e.ChargedUSD, true)))
	}
	return said
}

// Traffic is what passed through the wall so far; empty where nothing did.
func Traffic(run journal.Run) string {
	return traffic(run.Traffic, one)
}

// trafficInComment is the same in Markdown.
func trafficInComment(run journal.Run) string {
	return traffic(run.Traffic, func(host string) string { return Code(host, 100) })
}

// traffic is a line: all bytes, and the hosts that most of them went to and fro.
func traffic(all []journal.Passage, name func(string) string) string {
	if len(all) == 0 {
		return ""
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b journal.Passage) int { return cmp.Compare(b.Up+b.Down, a.Up+a.Down) })
	var up, down int64
	var hosts []string
	for _, p := range all {
		up, down = up+p.Up, down+p.Down
		if p.Host != "" && len(hosts) < mostPassed {
			hosts = append(hosts, fmt.Sprintf("%s (%s, %s)", name(p.Host), bytes(p.Up), bytes(p.Down)))
		}
	}
	line := fmt.Sprintf("%s out and %s in: %s", bytes(up), bytes(down), strings.Join(hosts, ", "))
	if more := len(all) - len(hosts); more > 0 {
		line += " and others"
	}
	return line
}

// bytes are a count of them, as people say it.
func bytes(n int64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if n < 1000 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n = (n + 500) / 1000
	}
	return fmt.Sprintf("%d TB", n)
}
