// Package handover takes the commits of an agent's tree into the trusted repository. It trusts nothing from that tree:
// it unpacks it in quarantine, examines every new commit there, and refuses or rewrites what is not allowed. The caller
// passes the policy with every call.
package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
)

// Terms are the rules and limits of a hand-over. A zero limit means the default.
type Terms struct {
	Base       string                 // the commit at which the run began
	Last       string                 // the last accepted commit, or the one at which work began
	Protect    []string               // globs of protected files and folders, case-insensitive
	MaxPack    int64                  // default: 100 MiB
	MaxFile    int64                  // default: 20 MiB
	MaxCommits int                    // default: 200
	MaxChanges int                    // in all commits; default: 200,000
	MaxRead    int64                  // size of all different files; default: 1 GiB
	Timeout    time.Duration          // of a call to git; default: 2 minutes
	Total      time.Duration          // of the hand-over; default: 5 minutes
	Secret     func(text []byte) bool // reports whether a text contains a secret; nil: no secrets
	Authorship
}

func (t Terms) withDefaults() Terms {
	t.MaxPack = cmp.Or(t.MaxPack, 100<<20)
	t.MaxFile = cmp.Or(t.MaxFile, 20<<20)
	t.MaxCommits = cmp.Or(t.MaxCommits, 200)
	t.MaxChanges = cmp.Or(t.MaxChanges, 200_000)
	t.MaxRead = cmp.Or(t.MaxRead, 1<<30)
	t.Timeout = cmp.Or(t.Timeout, 2*time.Minute)
	t.Total = cmp.Or(t.Total, 5*time.Minute)
	return t
}

type refusal []journal.Finding

func (r refusal) Error() string {
	if len(r) == 0 {
		return "refused"
	}
	return "refused: " + r[0].Why
}

func refuse(format string, args ...any) error {
	return refusal{{Why: fmt.Sprintf(format, args...)}}
}

// blame makes git's answer about foreign objects a refusal; other failures stay errors.
func blame(err error, what string) error {
	failed, ok := git.Answered(err)
	switch {
	case ok:
		return refuse("%s: %s", what, strings.TrimPrefix(failed.Error(), "git "))
	case git.IsBadOutput(err):
		return refuse("%s: %s", what, git.OneLine(err.Error(), 300))
	default:
		return err
	}
}

// errBomb marks commits that expand beyond what can be examined.
var errBomb = errors.New("it expands without limit")

// Take accepts the commits of a tree. It reads them as a pack and examines each in quarantine first. It rewrites
// commits to drop changes of protected paths and of .gitattributes, which could hide files from a reviewer, and to set
// their metadata: see Authorship. Anything else that is forbidden refuses all commits: then From equals To.
//
// History that the tree rewrote becomes one commit on top of Last with the tip's
// tree and message. If To is not the tree's HEAD, the caller resets the tree with
// Tree.Reset(To). Take is repeatable: after a kill it makes the same commits.
//
// The inspection was made since the agent last worked in the tree, or is nil.
func Take(
	ctx context.Context, t *git.Trusted, tree *git.Tree, inspection *git.Inspection, terms Terms,
) (journal.CommitsTaken, error) {
	if err := git.CheckSHA(terms.Base, terms.Last); err != nil {
		return journal.CommitsTaken{}, err
	}
	done := journal.CommitsTaken{From: terms.Last, To: terms.Last}
	terms = terms.withDefaults()
	inTime, cancel := context.WithTimeout(ctx, terms.Total)
	defer cancel()
	made, err := take(inTime, t, tree, inspection, terms)
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		err = errors.Join(errBomb, refuse("the commits could not be inspected within %s", terms.Total))
	}
	bomb := errors.Is(err, errBomb)
	if refused, ok := errors.AsType[refusal](err); ok {
		done.Refused = refused
		err = nil
	}
	if err != nil {
		return done, fmt.Errorf("take over commits: %w", err)
	}
	if len(done.Refused) > 0 {
		made = rewritten{}
	}
	if made.tip != "" {
		done.To = made.tip
		done.Dropped = made.dropped[:min(maxNamed, len(made.dropped))]
	}
	if err := addTreeState(ctx, tree, inspection, &done, bomb); err != nil {
		return done, fmt.Errorf("look at the working tree: %w", err)
	}
	return done, addCommits(ctx, t, &done, made)
}

// maxNamed limits the paths of a kind on record, which each view shows and the next prompt names.
const maxNamed = 100

func addCommits(ctx context.Context, t *git.Trusted, done *journal.CommitsTaken, made rewritten) error {
	var err error
	done.Tree = made.tree
	if done.Tree == "" {
		done.Tree, err = t.TreeOf(ctx, done.To)
		if err != nil {
			return err
		}
	}
	if done.From == done.To {
		return nil
	}
	done.Commits, err = t.Log(ctx, git.Span{From: done.From, To: done.To})
	if err != nil {
		return err
	}
	for _, c := range made.changes[:min(maxNamed, len(made.changes))] {
		done.Files = append(done.Files, c.Path)
	}
	return nil
}

func take(
	ctx context.Context, t *git.Trusted, tree *git.Tree, inspection *git.Inspection, terms Terms,
) (rewritten, error) {
	tip, err := tipOf(ctx, tree, inspection)
	if err != nil || tip == terms.Last {
		return rewritten{}, blame(err, "the repository in the worktree cannot be read")
	}
	guarded, err := protectIn(ctx, t, terms.Last, terms.Protect)
	if err != nil {
		return rewritten{}, err
	}
	if len(tip) != len(terms.Last) {
		return rewritten{}, refuse("the repository in the worktree has another object format")
	}
	q, err := newQuarantine(t, terms)
	if err != nil {
		return rewritten{}, err
	}
	defer q.remove()
	if err := q.receive(ctx, tree, tip); err != nil {
		return rewritten{}, err
	}
	made, err := q.examineCommits(ctx, tip, guarded)
	if err != nil || made.tip == "" || made.tip == terms.Last {
		return made, err
	}
	return made, q.release(ctx, made.tip)
}

func (q *quarantine) examineCommits(ctx context.Context, tip string, guarded protected) (rewritten, error) {
	commits, err := q.newCommits(ctx, tip)
	if err != nil || len(commits) == 0 {
		return rewritten{}, err
	}
	made, err := q.rewriteAll(ctx, commits, guarded)
	if err != nil || made.tip == q.terms.Last {
		return made, err
	}
	made.changes, err = q.checkProtected(ctx, made, guarded)
	if err != nil {
		return rewritten{}, err
	}
	return made, nil
}

func tipOf(ctx context.Context, tree *git.Tree, inspection *git.Inspection) (string, error) {
	if inspection != nil {
		return inspection.Head, nil
	}
	return tree.Head(ctx)
}

// addTreeState adds the state of the working tree. An unreadable tree is not an error: it counts as dirty. After a bomb
// git does not run: reading such a commit into an index would take all memory.
func addTreeState(
	ctx context.Context, tree *git.Tree, inspection *git.Inspection, done *journal.CommitsTaken, bomb bool,
) error {
	if bomb {
		done.Dirty = true
		return nil
	}
	err := readTreeState(ctx, tree, inspection, done)
	if _, ok := git.Answered(err); ok || git.IsBadOutput(err) {
		done.Dirty = true
		done.Work = ""
		return nil
	}
	return err
}

func readTreeState(
	ctx context.Context, tree *git.Tree, inspection *git.Inspection, done *journal.CommitsTaken,
) error {
	var err error
	if inspection == nil {
		inspection, err = tree.Inspect(ctx)
		if err != nil {
			return err
		}
	}
	done.Dirty = inspection.Dirty
	done.Huge = inspection.Huge(ctx)
	done.Work, err = inspection.Work(ctx)
	return err
}
