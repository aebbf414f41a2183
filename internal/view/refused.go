package view

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

// failures is what GitHub refused last, once for each thing that was tried.
func failures(run journal.Run) []string {
	last := map[string]journal.PublishFailed{}
	for _, failure := range run.Failures {
		last[failure.Act] = failure
	}
	var said []string
	for _, act := range slices.Sorted(maps.Keys(last)) {
		text := "could not " + doing(act) + ": " + clean.Inline(last[act].Why, 500)
		if fix := clean.Inline(last[act].Fix, 300); fix != "" && !strings.Contains(next(run), fix) {
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
		return "look whether others have gone on meanwhile"
	case "shelve":
		return "keep the run for another machine to go on with"
	}
	return clean.Inline(act, 40)
}

// byHand is what a person can do about work that could not be shown as it should
// have been; empty where nothing is in the way.
func byHand(run journal.Run) string {
	switch packed := run.Packed; {
	case inFile(run):
		text := fmt.Sprintf("the work is in the job's workspace as %s: `git fetch` takes it as a remote", Code(packed.Path, 200))
		if packed.Rest != "" && run.Links.Repo != "" {
			text = fmt.Sprintf("[open a pull request](%s) of all but %s, which nobody has proven so; ", compare(run, packed.Rest), paths(packed.Without)) + text
		}
		return text + again("push", run)
	case run.Pushed == run.Head && run.Head != run.Base && run.Pull == nil && refusedTo("open", run) && run.Links.Repo != "":
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
	return "; once what is in the way is mended, `/ralph` does it"
}

// inAddress is a branch as a part of an address, in which its slashes stay.
func inAddress(branch string) string {
	return strings.ReplaceAll(url.PathEscape(branch), "%2F", "/")
}

// refusedTo tells whether an act on GitHub was tried last in vain.
func refusedTo(act string, run journal.Run) bool {
	return slices.ContainsFunc(run.Failures, func(f journal.PublishFailed) bool { return f.Act == act && f.Head == run.Head })
}
