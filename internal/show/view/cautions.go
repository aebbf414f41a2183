package view

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

func joinedText(run journal.Run, e journal.Joined) string {
	switch {
	case len(e.Conflicts) > 0:
		return oneLine(movedOnText(run, e) + " and conflicts in: " + journal.ShortList(e.Conflicts))
	case e.To == e.From:
		return ""
	}
	return oneLine(movedOnText(run, e) + ", and is merged: " + shortSHA(e.To))
}

func movedOnText(run journal.Run, e journal.Joined) string {
	text := run.Branch + " has moved on"
	if e.Of == journal.OfBase {
		text = run.BaseRef + " has moved on"
	}
	text += " to " + shortSHA(e.With)
	if e.Commits == 0 {
		return text
	}
	text += " (" + Plural(e.Commits, "commit")
	if len(e.By) > 0 {
		text += " by " + journal.ShortList(e.By)
	}
	return text + ")"
}

// othersChanges lists the changes of others that were merged or conflict, as Markdown.
func othersChanges(run journal.Run) []string {
	var lines []string
	for _, left := range run.Published.Leaves {
		lines = append(lines, fmt.Sprintf("the work has gone on from %s to %s: %s",
			Code(left.From, 200), Code(left.To, 200), clean.Inline(left.Why, 300)))
	}
	for _, e := range run.Merging.Joins {
		text := clean.Inline(movedOnText(run, e), 400) + " and was merged"
		if len(e.Protected) > 0 {
			text += "; it changes protected files, which a person has to review: " + codePaths(e.Protected)
		}
		lines = append(lines, text)
	}
	if text := conflicts(run); text != "" {
		lines = append(lines, text)
	}
	return firstFew(lines)
}

func conflicts(run journal.Run) string {
	p := run.Merging.Parted
	if p == nil {
		return ""
	}
	return clean.Inline(movedOnText(run, *p), 400) + " and conflicts in: " + codePaths(p.Conflicts)
}

// codePaths also limits the bytes: as HTML, a name of punctuation is six times as long.
func codePaths(names []string) string {
	const most = 4000
	var lines []string
	size := 0
	for i, name := range names {
		line := Code(name, 200)
		size += len(line)
		if size > most || i == maxListed {
			lines = append(lines, fmt.Sprintf("… and %d more", len(names)-i))
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

// egressRefusedText names what the sandbox or the model server refused, and the input that would allow it.
func egressRefusedText(e journal.EgressRefused) string {
	text := "refused: " + oneLine(e.What) + ": " + oneLine(e.Why)
	if e.Input != "" {
		text += " – this would allow it: " + oneLine(e.Input)
	}
	return text
}

const maxHosts = 3

// trafficLines has the bytes out and in, and the hosts with the most traffic. It names no hosts for a run without a
// sandbox, where only the model server counts.
func trafficLines(run journal.Run, e journal.EgressPassed) []eventLine {
	all := slices.SortedStableFunc(slices.Values(e.Hosts), func(a, b journal.Passage) int {
		return cmp.Compare(b.Up+b.Down, a.Up+a.Down)
	})
	if e.Rest != nil {
		all = append(all, *e.Rest)
	}
	if len(all) == 0 || run.Level == "none" {
		return nil
	}
	var up, down int64
	var hosts []string
	for _, p := range all {
		up += p.Up
		down += p.Down
		if p.Host != "" && len(hosts) < maxHosts {
			hosts = append(hosts, fmt.Sprintf("%s (%s, %s)", oneLine(p.Host), byteCount(p.Up), byteCount(p.Down)))
		}
	}
	text := fmt.Sprintf("passed through the sandbox: %s out and %s in: %s",
		byteCount(up), byteCount(down), strings.Join(hosts, ", "))
	return []eventLine{iterationLine(plainSign, text+pick(len(all) > len(hosts), " and others", ""))}
}

// publishFailures lists GitHub's newest refusal of each act, unless the headline has it.
func publishFailures(run journal.Run) []string {
	last := map[string]journal.PublishFailed{}
	for _, failure := range run.Published.Failures {
		last[failure.Act] = failure
	}
	var lines []string
	next := Next(run)
	headline := Headline(run)
	for _, act := range slices.Sorted(maps.Keys(last)) {
		why := clean.Inline(last[act].Why, 500)
		if why != "" && strings.Contains(headline, why) {
			continue
		}
		text := "could not " + actText(act) + ": " + why
		if fix := clean.Inline(last[act].Fix, 300); fix != "" && !strings.Contains(next, fix) {
			text += " – " + fix
		}
		lines = append(lines, text)
	}
	return firstFew(lines)
}

var actTexts = map[string]string{
	"push":   "push the work",
	"open":   "open the pull request",
	"ready":  "mark the pull request as ready",
	"join":   "look for commits of others",
	"shelve": "save the run for another machine",
}

func actText(act string) string { return cmp.Or(actTexts[act], clean.Inline(act, 40)) }

// manualStep returns what a person can do if GitHub refused the work, or an empty text.
func manualStep(run journal.Run) string {
	switch {
	case run.Stop == nil || run.IsCompleted():
		return ""
	case isWorkInFile(run):
		return fetchStep(run)
	case isPullMissing(run):
		return fmt.Sprintf("[open the pull request](%s) yourself", compareURL(run))
	}
	return ""
}

func isWorkInFile(run journal.Run) bool {
	return run.Published.Packed != nil && run.Published.Packed.Head == run.Head && run.Published.Pushed != run.Head
}

// fetchStep returns how to get the work out of the file.
func fetchStep(run journal.Run) string {
	return fmt.Sprintf("get the work from %s in the job's workspace: `git fetch` reads it like a remote",
		Code(run.Published.Packed.Path, 200))
}

// isPullMissing reports whether the work is on GitHub, but the pull request could not be opened.
func isPullMissing(run journal.Run) bool {
	if run.Published.Pull != nil || run.Links.Repo == "" {
		return false
	}
	if run.Published.Pushed != run.Head || run.Head == run.Base {
		return false
	}
	return slices.ContainsFunc(run.Published.Failures, func(f journal.PublishFailed) bool {
		return f.Act == "open" && f.Head == run.Head
	})
}

// patchBlock returns work that was not pushed as a code block for git apply, if it fits.
func patchBlock(run journal.Run) string {
	if !isWorkInFile(run) || run.Published.Packed.Patch == "" {
		return ""
	}
	shown := clean.Fence(run.Published.Packed.Patch)
	// Not if the block would differ from the patch.
	if !strings.Contains(shown, run.Published.Packed.Patch) || strings.Contains(shown, hiddenMarker) {
		return ""
	}
	return shown
}

// compareURL returns the page on which a person opens the run's pull request.
func compareURL(run journal.Run) string {
	refs := url.URL{Path: run.BaseRef + "..." + run.Branch}
	return run.Links.Repo + "/compare/" + refs.EscapedPath() + "?expand=1"
}

// fixFor returns how to make GitHub accept an act that it refused, if known.
func fixFor(run journal.Run, act string) string {
	for _, failure := range slices.Backward(run.Published.Failures) {
		if failure.Act == act && failure.Fix != "" {
			return clean.Inline(failure.Fix, 300)
		}
	}
	return ""
}
