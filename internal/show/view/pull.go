package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// pullOf returns the pull request without markers that skip CI: its body can become a commit message. Only the first
// line has markers of ralph's: a search for them would find one in foreign text, even in code.
func pullOf(run journal.Run) Pull {
	markers, text, _ := strings.Cut(clean.BreakSkipWords(render("body.md", run)), "\n")
	pull := Pull{Title: pullTitle(run), Body: markers + "\n" + defuseMarkers(text)}
	if run.Published.Pull != nil {
		pull.Number = run.Published.Pull.Number
	}
	return pull
}

const maxTitle = 256 // characters; GitHub refuses a longer title

// pullTitle returns the title of the pull request. It can become a commit subject, in which mentions and closing
// keywords take effect even in code.
func pullTitle(run journal.Run) string {
	wanted, _ := clean.Plain(cmp.Or(run.Task.Title, run.Plan.Project, run.Branch), 200)
	// The limit leaves room for what CommitMessage inserts.
	text := []rune(cmp.Or(strings.TrimSpace(clean.CommitMessage(wanted)), run.Branch))
	return string(text[:min(len(text), maxTitle)])
}

// issueLink returns a link that closes the issue only if the plan is done: a draft can be merged, too.
func issueLink(run journal.Run) string {
	switch {
	case run.Task.Number == 0 || run.Task.Kind == plan.KindPull:
		return ""
	case run.Plan.Done() && run.Published.Pull != nil && !run.Published.Pull.Draft:
		return fmt.Sprintf("Closes #%d", run.Task.Number)
	}
	return fmt.Sprintf("Refs #%d", run.Task.Number)
}

func newestProof(run journal.Run) *journal.Proof {
	proof, found := run.ProofOf(run.Tree)
	if !found || len(proof.Checks.Head) == 0 {
		return nil
	}
	return &proof
}

// failure returns why the newest commit failed; empty: it did not.
func failure(run journal.Run) string {
	proof, found := run.ProofOf(run.Tree)
	if !found || proof.Result != journal.Failed {
		return ""
	}
	return clean.Inline(proof.Why, 300)
}

// isUnchecked reports whether the newest commit has checks but no proof.
func isUnchecked(run journal.Run) bool {
	_, found := run.ProofOf(run.Tree)
	return !found && len(run.Policy.Checks) > 0 && run.Head != run.Start
}

// restoredFiles lists each protected file that an agent changed and that was restored.
func restoredFiles(run journal.Run) string {
	var paths []string
	for _, it := range run.Iterations {
		if it.Taken == nil {
			continue
		}
		for _, path := range it.Taken.Dropped {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return codePaths(paths)
}

const maxPatchBytes = 20_000

// proposedPatches lists the agent's patches of protected files, and the files whose patches are too large.
func proposedPatches(run journal.Run) []string {
	var shown, left []string
	size := 0
	seen := map[string]bool{}
	for _, it := range run.Iterations {
		if it.Taken == nil {
			continue
		}
		for _, p := range it.Taken.Proposed {
			switch {
			case seen[p.Patch]:
			case p.Cut || size+len(p.Patch) > maxPatchBytes:
				left = append(left, Code(p.Path, 200))
			default:
				size += len(p.Patch)
				shown = append(shown, defuseMarkers(clean.Fence(p.Patch)))
			}
			seen[p.Patch] = true
		}
	}
	if len(left) > 0 {
		shown = append(shown, "Too large to show: "+strings.Join(firstFew(left), ", "))
	}
	return shown
}

func rejectedClaims(run journal.Run) []string {
	var all []string
	for _, it := range run.Iterations {
		if it.Ended == nil {
			continue
		}
		for _, rejected := range it.Ended.Rejected {
			all = append(all, fmt.Sprintf("iteration %d, %s: %s",
				it.Number, Code(rejected.Claim, 80), clean.Inline(rejected.Why, 300)))
		}
	}
	return firstFew(all)
}
