// Package suggestion applies what reviewers suggest as it is: it takes a branch's
// commit and the remarks on it, and returns the commit with the suggested lines.
package suggestion

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

const maxFile = 5 << 20

// Applied is what came of the suggestions.
type Applied struct {
	Head    string
	Remarks []plan.Remark // with the commits that were made
	Plan    plan.Plan     // in which the stories of these pass
}

// Branch is where the suggestions go.
type Branch struct {
	Head    string
	SignOff bool     // add the line to each commit that some projects want
	Protect []string // globs of files that stay as they are
}

// On returns a branch at head by the rules of a run.
func On(head string, p policy.Policy) Branch {
	return Branch{Head: head, SignOff: p.SignOff, Protect: p.Protect}
}

// Apply makes one commit for each suggestion whose file is unchanged since; the others stay
// stories. The same suggestions always make the same commits.
func Apply(ctx context.Context, t *git.Trusted, on Branch, task plan.Task, p plan.Plan) (Applied, error) {
	head := on.Head
	done := Applied{Head: head, Remarks: slices.Clone(task.Remarks), Plan: p}
	guarded, err := handover.Covered(ctx, t, on.Head, on.Protect, paths(task))
	if err != nil {
		return done, err
	}
	lowest := map[string]int{} // line that is changed already, by file
	for i, r := range slices.Backward(done.Remarks) {
		s := r.Suggestion
		if s == (plan.Suggestion{}) || slices.Contains(guarded, r.Path) || lowest[r.Path] != 0 && s.To >= lowest[r.Path] {
			continue
		}
		text, fits, err := suggested(ctx, t, head, r, done.Head)
		if err != nil {
			return done, err
		}
		if !fits {
			continue
		}
		if on.Head, err = commit(ctx, t, on, r, text); err != nil {
			return done, err
		}
		done.Head = on.Head
		lowest[r.Path] = s.From
		done.Remarks[i].Suggestion.Made = done.Head
		done.Plan = done.Plan.WithSuggestion(done.Remarks[i])
	}
	return done, nil
}

func paths(task plan.Task) (all []string) {
	for _, r := range task.Remarks {
		all = append(all, r.Path)
	}
	return all
}

// suggested applies a suggestion if the file at head is as the reviewer saw it.
func suggested(ctx context.Context, t *git.Trusted, head string, r plan.Remark, newest string) (text []byte, fits bool, err error) {
	var seen [3][]byte
	for i, at := range []string{r.Suggestion.Commit, head, newest} {
		if seen[i], err = t.ReadFile(ctx, git.At{Commit: at, Path: r.Path}, maxFile); err != nil {
			return nil, false, ctx.Err() // it is gone, a link, or too large, or the branch was rewritten
		}
	}
	text, fits = Put(seen[2], r.Suggestion)
	return text, fits && bytes.Equal(seen[0], seen[1]), nil
}

// Put replaces the lines that a suggestion is for; false where that changes nothing.
func Put(file []byte, s plan.Suggestion) ([]byte, bool) {
	lines := strings.SplitAfter(string(file), "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	if s.From < 1 || s.To < s.From || s.To > len(lines) {
		return nil, false
	}
	ending := "\n"
	if strings.HasSuffix(lines[s.From-1], "\r\n") {
		ending = "\r\n"
	}
	var text []string
	if s.Text != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(s.Text, "\n"), "\n") {
			text = append(text, line+ending)
		}
		if last := lines[s.To-1]; !strings.HasSuffix(last, "\n") { // the file's end stays without one
			text[len(text)-1] = strings.TrimSuffix(text[len(text)-1], ending)
		}
	}
	put := strings.Join(slices.Concat(lines[:s.From-1], text, lines[s.To:]), "")
	return []byte(put), put != string(file)
}

// commit names the suggestion's author beside ralph.
func commit(ctx context.Context, t *git.Trusted, on Branch, r plan.Remark, text []byte) (string, error) {
	with, err := t.Overlay(ctx, git.Overlay{Onto: on.Head, From: on.Head, Texts: map[string][]byte{r.Path: text}})
	if err != nil {
		return "", err
	}
	tree, err := t.TreeOf(ctx, with)
	if err != nil {
		return "", err
	}
	message := git.Message{Subject: "fix: apply the suggestion by " + r.By, SignOff: on.SignOff}
	if r.Suggestion.ByID != 0 {
		message.Trailers = []string{fmt.Sprintf("Co-authored-by: %s <%d+%s@users.noreply.github.com>", r.By, r.Suggestion.ByID, r.By)}
	}
	return t.Commit(ctx, tree, message, on.Head)
}
