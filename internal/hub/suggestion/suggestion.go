// Package suggestion applies what reviewers suggest as it is: it takes a branch's
// commit and the remarks on it, and returns the commit with the suggested lines.
package suggestion

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
)

const maxFile = 5 << 20

// Apply makes one commit onto head for each suggestion whose file is unchanged since. It returns the
// newest, and the remarks with their commits. The same suggestions always make the same commits.
func Apply(
	ctx context.Context,
	t *git.Trusted,
	head string,
	rules policy.Policy,
	remarks []plan.Remark,
) (newest string, all []plan.Remark, err error) {
	newest = head
	all = slices.Clone(remarks)
	guarded, err := handover.Covered(ctx, t, head, rules.Protect, paths(remarks))
	if err != nil {
		return newest, all, err
	}
	lowest := map[string]int{} // line that is changed already, by file
	for i, r := range slices.Backward(all) {
		s := r.Suggestion
		if s == (plan.Suggestion{}) || slices.Contains(guarded, r.Path) {
			continue
		}
		if lowest[r.Path] != 0 && s.To >= lowest[r.Path] {
			continue // another suggestion changed these lines
		}
		text, fits, err := suggested(ctx, t, head, r, newest)
		if err != nil {
			return newest, all, err
		}
		if !fits {
			continue
		}
		change := git.Overlay{Onto: newest, From: newest, Texts: map[string][]byte{r.Path: text}}
		newest, err = commit(ctx, t, change, message(r, rules.SignOff))
		if err != nil {
			return newest, all, err
		}
		lowest[r.Path] = s.From
		all[i].Suggestion.Made = newest
	}
	return newest, all, nil
}

func paths(remarks []plan.Remark) (all []string) {
	for _, r := range remarks {
		all = append(all, r.Path)
	}
	return all
}

// suggested applies a suggestion if the file at head is as the reviewer saw it.
func suggested(
	ctx context.Context,
	t *git.Trusted,
	head string,
	r plan.Remark,
	newest string,
) (text []byte, fits bool, err error) {
	var versions [3][]byte
	for i, commit := range []string{r.Suggestion.Commit, head, newest} {
		version, err := t.ReadFile(ctx, git.At{Commit: commit, Path: r.Path}, maxFile)
		if err != nil {
			return nil, false, ctx.Err() // it is gone, a link, or too large, or the branch was rewritten
		}
		versions[i] = version
	}
	if !bytes.Equal(versions[0], versions[1]) {
		return nil, false, nil
	}
	text, fits = Put(versions[2], r.Suggestion)
	return text, fits, nil
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

// message names the suggestion's author beside ralph.
func message(r plan.Remark, signOff bool) git.Message {
	m := git.Message{Subject: "fix: apply the suggestion by " + r.By, SignOff: signOff}
	if r.Suggestion.ByID != 0 {
		m.Trailers = []string{fmt.Sprintf(
			"Co-authored-by: %s <%d+%s@users.noreply.github.com>", r.By, r.Suggestion.ByID, r.By,
		)}
	}
	return m
}

func commit(ctx context.Context, t *git.Trusted, change git.Overlay, m git.Message) (string, error) {
	with, err := t.Overlay(ctx, change)
	if err != nil {
		return "", err
	}
	tree, err := t.TreeOf(ctx, with)
	if err != nil {
		return "", err
	}
	return t.Commit(ctx, tree, m, change.Onto)
}
