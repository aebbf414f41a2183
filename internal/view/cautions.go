package view

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

// joined is Line's word on what others did meanwhile.
func joined(run journal.Run, e journal.Joined) string {
	switch {
	case len(e.Conflicts) > 0:
		return one(moved(run, e) + " and conflicts in: " + journal.Few(e.Conflicts))
	case e.To == e.From:
		return ""
	}
	return one(moved(run, e) + ", and is merged: " + short(e.To))
}

// moved is what others did, without what became of it.
func moved(run journal.Run, e journal.Joined) string {
	text := run.Branch + " has moved on"
	if e.Of == journal.OfBase {
		text = run.BaseRef + " has moved on"
	}
	text += " to " + short(e.With)
	if e.Commits == 0 {
		return text
	}
	text += " (" + plural(e.Commits, "commit")
	if len(e.By) > 0 {
		text += " by " + journal.Few(e.By)
	}
	return text + ")"
}

// joins are, for pages, what others did and was merged, and what contradicts the
// work.
func joins(run journal.Run) []string {
	var said []string
	for _, left := range run.Leaves {
		said = append(said, fmt.Sprintf("the work has gone on from %s to %s: %s", Code(left.From, 200), Code(left.To, 200), clean.Inline(left.Why, 300)))
	}
	for _, e := range run.Joins {
		text := clean.Inline(moved(run, e), 400) + " and was merged"
		if len(e.Protected) > 0 {
			text += "; it changes protected files, which is for people to judge: " + paths(e.Protected)
		}
		said = append(said, text)
	}
	if p := run.Parted; p != nil {
		said = append(said, clean.Inline(moved(run, *p), 400)+" and conflicts in: "+paths(p.Conflicts))
	}
	return few(said)
}

func paths(names []string) string {
	var said []string
	for _, name := range names {
		said = append(said, Code(name, 200))
	}
	return strings.Join(few(said), ", ")
}

// barred is what the sandbox refused of what those inside asked for, with the line
// that would allow it.
func barred(e journal.EgressRefused) string {
	text := "refused by the sandbox: " + one(e.What) + ": " + one(e.Why)
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
		text := Code(e.What, 200) + ": " + leading(e.Why, 160)
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
		said = append(said, within(plainSign, "passed through the sandbox: "+passed))
	}
	if e.ChargedUSD > 0 {
		said = append(said, within(plainSign, "counted against the budget for answers without a count or a price: "+money(e.ChargedUSD, true)))
	}
	return said
}

// Traffic is what passed through the sandbox so far; empty where nothing did.
func Traffic(run journal.Run) string {
	return traffic(run.Traffic, one)
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

// failures is what GitHub refused last, once for each thing that was tried.
func failures(run journal.Run) []string {
	last := map[string]journal.PublishFailed{}
	for _, failure := range run.Failures {
		last[failure.Act] = failure
	}
	var said []string
	next := Next(run)
	for _, act := range slices.Sorted(maps.Keys(last)) {
		text := "could not " + doing(act) + ": " + clean.Inline(last[act].Why, 500)
		if fix := clean.Inline(last[act].Fix, 300); fix != "" && !strings.Contains(next, fix) {
			text += " – " + fix
		}
		said = append(said, text)
	}
	return few(said)
}

// doing is an act on GitHub in words.
func doing(act string) string {
	switch act {
	case "push":
		return "push the work"
	case "open":
		return "open the pull request"
	case "ready":
		return "mark the pull request as ready"
	case "join":
		return "look for commits of others"
	case "shelve":
		return "save the run for another machine"
	}
	return clean.Inline(act, 40)
}

// byHand is what a person can do about work that could not be shown as it should
// have been; empty where nothing is in the way.
func byHand(run journal.Run) string {
	switch packed := run.Packed; {
	case inFile(run):
		text := fmt.Sprintf("the work is in the job's workspace as %s: `git fetch` reads it like a remote", Code(packed.Path, 200))
		if packed.Rest != "" && run.Links.Repo != "" {
			text = fmt.Sprintf("[open a pull request](%s) of all but %s, which is not proven without them; ", compare(run, packed.Rest), paths(packed.Without)) + text
		}
		return text + again("push", run)
	case run.Pushed == run.Head && run.Head != run.Base && run.Pull == nil && run.Links.Repo != "" &&
		slices.ContainsFunc(run.Failures, func(f journal.PublishFailed) bool { return f.Act == "open" && f.Head == run.Head }):
		return fmt.Sprintf("[open the pull request](%s) yourself%s", compare(run, run.Branch), again("open", run))
	}
	return ""
}

// inFile tells of work that is in a file, and nowhere else.
func inFile(run journal.Run) bool {
	return run.Packed != nil && run.Packed.Head == run.Head && run.Pushed != run.Head
}

// folded is such work where it has room in a comment, as git apply takes it.
func folded(run journal.Run) string {
	if !inFile(run) || run.Packed.Patch == "" {
		return ""
	}
	shown := clean.Fence(run.Packed.Patch)
	if !strings.Contains(shown, run.Packed.Patch) || strings.Contains(shown, marker) { // altered, or about to be
		return ""
	}
	return shown
}

// compare is the page on which a person opens a pull request of a branch.
func compare(run journal.Run, branch string) string {
	return fmt.Sprintf("%s/compare/%s...%s?expand=1", run.Links.Repo, inAddress(run.BaseRef), inAddress(branch))
}

// again is how ralph comes to do what GitHub refused.
func again(act string, run journal.Run) string {
	for _, failure := range slices.Backward(run.Failures) {
		if failure.Act == act && failure.Fix != "" {
			return "; or " + clean.Inline(failure.Fix, 300) + ", and comment `/ralph`"
		}
	}
	return "; or fix the cause, and comment `/ralph`"
}

// inAddress is a branch as a part of an address, in which its slashes stay.
func inAddress(branch string) string {
	return strings.ReplaceAll(url.PathEscape(branch), "%2F", "/")
}
