package handover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

const (
	maxCommit   = 64 << 10
	maxParents  = 16
	maxFindings = 50
)

type commit struct {
	id      string
	raw     string // its original text
	tree    string
	parents []string
	lines   []string // author, committer and encoding
	message string
}

// newCommits lists the new commits, parents first. Rewritten history becomes one commit.
func (q *quarantine) newCommits(ctx context.Context, tip string) ([]commit, error) {
	ids, err := q.walk(ctx, tip)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if len(ids) > q.terms.MaxCommits {
		return nil, refuse("more than %d commits at once", q.terms.MaxCommits)
	}
	commits, err := q.readCommits(ctx, ids)
	if err != nil {
		return nil, err
	}
	if err := q.checkDescent(ctx, commits); err != nil {
		return nil, err
	}
	isOnLast := func(c commit) bool { return slices.Contains(c.parents, q.terms.Last) }
	if slices.ContainsFunc(commits, isOnLast) {
		return commits, nil // all of them are the tip's ancestors
	}
	_, err = q.Ask(ctx, "merge-base", "--is-ancestor", q.terms.Last, tip)
	if git.SaidNo(err) {
		last := commits[len(commits)-1]
		last.parents = []string{q.terms.Last}
		return []commit{last}, nil
	}
	return commits, err
}

func (q *quarantine) list(ctx context.Context, tip string, args ...string) ([]string, error) {
	out, err := q.Ask(ctx, append([]string{"rev-list", tip}, args...)...)
	if err != nil {
		return nil, blame(err, "its history cannot be read")
	}
	return strings.Fields(out), nil
}

// checkDescent requires that each parent is new, or a commit accepted since the base, or the base if it is in the
// history of Last. Only ralph merges a base that moved on: an agent could leave out what others did there.
func (q *quarantine) checkDescent(ctx context.Context, commits []commit) error {
	known := map[string]bool{q.terms.Last: true}
	for _, c := range commits {
		known[c.id] = true
	}
	if slices.ContainsFunc(commits, func(c commit) bool { return hasUnknownParent(c, known) }) {
		accepted, err := q.list(ctx, q.terms.Last, "--boundary", "^"+q.terms.Base)
		if err != nil {
			return err
		}
		for _, id := range accepted {
			known[id] = true
		}
		known[q.terms.Base] = known[q.terms.Base] || known["-"+q.terms.Base] // at the boundary
	}
	var found refusal
	for _, c := range commits {
		if why := wrongParents(c, known); why != "" {
			found = append(found, journal.Finding{Commit: c.id, Why: why})
		}
	}
	if len(found) > 0 {
		return found[:min(maxFindings, len(found))]
	}
	return nil
}

func hasUnknownParent(c commit, known map[string]bool) bool {
	return slices.ContainsFunc(c.parents, func(p string) bool { return !known[p] })
}

func wrongParents(c commit, known map[string]bool) string {
	switch n := len(c.parents); {
	case n == 0:
		return "an unrelated history: the commit has no parent"
	case n > maxParents:
		return fmt.Sprintf("a merge of more than %d commits", maxParents)
	}
	for _, p := range c.parents {
		if !known[p] {
			return fmt.Sprintf("built on an unknown commit: %.12s", p)
		}
	}
	return ""
}

func (q *quarantine) readCommits(ctx context.Context, ids []string) ([]commit, error) {
	commits := make([]commit, 0, len(ids))
	err := git.CatFile(ctx, q.Do, git.Call{Limit: maxAnswers}, ids, func(o git.Object) error {
		if o.Size > maxCommit {
			return refusal{{Commit: o.ID, Why: fmt.Sprintf("its message is longer than %d KiB", maxCommit>>10)}}
		}
		text, err := io.ReadAll(o.Content)
		if err != nil {
			return err
		}
		c, err := parseCommit(o.ID, string(text))
		if q.secret(string(text)) || q.secret(q.terms.message(c.message)) { // clean, it may join the parts of a secret
			return refusal{{Commit: o.ID, Why: "its message or author contains a secret of this job"}}
		}
		commits = append(commits, c)
		return err
	})
	if err != nil {
		return nil, blame(err, "its commits cannot be read")
	}
	return commits, nil
}

func parseCommit(id, text string) (commit, error) {
	c := commit{id: id, raw: text}
	head, message, _ := strings.Cut(text, "\n\n")
	c.message = message
	malformed := strings.Contains(message, "\x00")
	for i, line := range strings.Split(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		malformed = malformed || isMisplaced(key, i, len(c.parents))
		switch key {
		case "tree":
			c.tree = value
		case "parent":
			c.parents = append(c.parents, value)
		case "author", "committer", "encoding":
			c.lines = append(c.lines, line)
		}
	}
	if malformed || git.CheckSHA(c.tree) != nil || git.CheckSHA(c.parents...) != nil || len(c.lines) < 2 {
		return c, refusal{{Commit: id, Why: "the commit is malformed"}}
	}
	return c, nil
}

// isMisplaced reports whether a header line is not where git expects it. git
// ignores a second tree line: a reader that used it would read another tree.
func isMisplaced(key string, line, parents int) bool {
	places := map[string]int{"tree": 0, "parent": 1 + parents, "author": 1 + parents, "committer": 2 + parents}
	place, ok := places[key]
	return ok && line != place
}

// maxHistory fits the ids of all objects in the largest pack.
const maxHistory = 256 << 20

// walk returns the ids of the new commits, parents first. It fails if objects are missing.
func (q *quarantine) walk(ctx context.Context, tip string) ([]string, error) {
	var ids []string
	lines := &process.Lines{Max: maxCommit, Each: func(line []byte, _ bool) {
		if id, ok := strings.CutPrefix(string(line), "commit "); ok {
			ids = append(ids, id)
		}
	}}
	_, err := q.Do(ctx, git.Call{
		Args: []string{
			"rev-list", "--objects", "--no-object-names", "--topo-order", "--reverse", "--format=",
			tip, "--not", q.terms.Base, q.terms.Last,
		},
		Stdout: lines,
		Limit:  maxHistory,
	})
	err = errors.Join(err, lines.Close())
	if err != nil {
		return nil, q.brokenHistory(ctx, tip, err)
	}
	if !slices.Contains(ids, tip) {
		if err := q.checkCommit(ctx, tip); err != nil {
			return nil, err
		}
	}
	return ids, git.CheckSHA(ids...)
}

// brokenHistory returns the error for a tip whose history cannot be walked.
func (q *quarantine) brokenHistory(ctx context.Context, tip string, err error) error {
	if _, ok := git.Answered(err); ok {
		if why := q.checkCommit(ctx, tip); why != nil {
			return why
		}
	}
	return blame(err, "its history is incomplete")
}

func (q *quarantine) checkCommit(ctx context.Context, tip string) error {
	kind, err := q.Ask(ctx, "cat-file", "-t", tip)
	switch {
	case err != nil:
		return blame(err, "its HEAD was not handed over")
	case kind != "commit":
		return refuse("its HEAD is not a commit")
	}
	return nil
}
