// Package handover takes the commits of an agent's tree into the trusted
// repository. It trusts nothing from that tree: it unpacks it in quarantine,
// examines every new commit there, and refuses or rewrites what is not
// allowed. The caller passes the policy with every call.
package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Terms are what a hand-over may hold. A zero limit stands for its default.
type Terms struct {
	Base       string                 // where the run began
	Last       string                 // what was handed over last, or where work began
	Protect    []string               // globs of paths that stay as they are, in any case of letters, each with all below it
	MaxPack    int64                  // 100 MiB
	MaxFile    int64                  // 20 MiB
	MaxCommits int                    // 200
	MaxChanges int                    // 200,000 of all commits together
	MaxRead    int64                  // 1 GiB of different files together
	Timeout    time.Duration          // of a call to git; 2 minutes
	Total      time.Duration          // for all commits together; 5 minutes
	Secret     func(text []byte) bool // tells whether a text contains a secret; nil: there is none
	Authorship
}

func (t Terms) filled() Terms {
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

// errBomb is for a commit that expands beyond what can be judged.
var errBomb = errors.New("it expands without limit")

// Take has the tree's commits handed over: read as a pack from inside, looked
// at one by one in quarantine, and only then taken in. Changes of protected
// paths are dropped by commits made again; so are those of .gitattributes,
// which could hide files from a reviewer. The same happens to what a
// commit may not say of itself: see Authorship. Anything else that may not pass
// refuses all of it, and From equals To.
//
// History that the tree rewrote becomes one commit on top of Last with the
// tip's tree and words. Whenever To is not the tree's HEAD, Tree.Reset(To)
// brings the tree along. Repeated after a kill, Take comes to the same commits.
//
// Seen is how the tree stands, where it was looked at since anybody worked
// there; nil: it was not.
func Take(ctx context.Context, t *git.Trusted, tree *git.Tree, seen *git.Inspection, terms Terms) (journal.CommitsTaken, error) {
	if err := git.CheckSHA(terms.Base, terms.Last); err != nil {
		return journal.CommitsTaken{}, err
	}
	done := journal.CommitsTaken{From: terms.Last, To: terms.Last}
	terms = terms.filled()
	inTime, cancel := context.WithTimeout(ctx, terms.Total)
	defer cancel()
	made, err := take(inTime, t, tree, seen, terms)
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		err = errors.Join(errBomb, refuse("the commits could not be inspected within %s", terms.Total))
	}
	bomb := errors.Is(err, errBomb)
	if refused, ok := errors.AsType[refusal](err); ok {
		done.Refused, err = refused, nil
	}
	if err != nil {
		return done, fmt.Errorf("take over commits: %w", err)
	}
	if len(done.Refused) > 0 {
		made = remade{}
	}
	if made.tip != "" {
		done.To, done.Dropped = made.tip, made.dropped
	}
	if err := stand(ctx, tree, seen, &done, bomb); err != nil {
		return done, fmt.Errorf("look at the working tree: %w", err)
	}
	return done, account(ctx, t, &done, made)
}

func account(ctx context.Context, t *git.Trusted, done *journal.CommitsTaken, made remade) (err error) {
	if done.Tree = made.tree; done.Tree == "" {
		if done.Tree, err = t.TreeOf(ctx, done.To); err != nil {
			return err
		}
	}
	if done.From == done.To {
		return nil
	}
	if done.Commits, err = t.Log(ctx, git.Span{From: done.From, To: done.To}); err != nil {
		return err
	}
	for _, c := range made.changes[:min(100, len(made.changes))] {
		done.Files = append(done.Files, c.Path)
	}
	return nil
}

func take(ctx context.Context, t *git.Trusted, tree *git.Tree, seen *git.Inspection, terms Terms) (remade, error) {
	tip, err := tipOf(ctx, tree, seen)
	if err != nil || tip == terms.Last {
		return remade{}, blame(err, "the repository in the worktree cannot be read")
	}
	guarded, err := protectIn(ctx, t, terms.Last, terms.Protect)
	if err != nil {
		return remade{}, err
	}
	if len(tip) != len(terms.Last) {
		return remade{}, refuse("the repository in the worktree has another object format")
	}
	q, err := enter(t, terms)
	if err != nil {
		return remade{}, err
	}
	defer q.remove()
	if err := q.receive(ctx, tree, tip); err != nil {
		return remade{}, err
	}
	made, err := q.examined(ctx, tip, guarded)
	if err != nil || made.tip == "" || made.tip == terms.Last {
		return made, err
	}
	return made, q.release(ctx, made.tip)
}

func (q *quarantine) examined(ctx context.Context, tip string, guarded protected) (remade, error) {
	commits, err := q.survey(ctx, tip)
	if err != nil || len(commits) == 0 {
		return remade{}, err
	}
	made, err := q.remake(ctx, commits, guarded)
	if err != nil || made.tip == q.terms.Last {
		return made, err
	}
	made.changes, err = q.checkProtected(ctx, made, guarded)
	if err != nil {
		return remade{}, err
	}
	return made, nil
}

func tipOf(ctx context.Context, tree *git.Tree, seen *git.Inspection) (string, error) {
	if seen != nil {
		return seen.Head, nil
	}
	return tree.Head(ctx)
}

// stand notes how the working tree stands. A tree too odd to be read is not the
// program's failure: it counts as dirty, with nothing known of it. Beside a
// bomb git is not even asked: an index of it would take all memory.
func stand(ctx context.Context, tree *git.Tree, seen *git.Inspection, done *journal.CommitsTaken, bomb bool) (err error) {
	if bomb {
		done.Dirty = true
		return nil
	}
	if seen == nil {
		seen, err = tree.Inspect(ctx)
	}
	if err == nil {
		done.Dirty, done.Huge = seen.Dirty, seen.Huge(ctx)
		done.Work, err = seen.Work(ctx)
	}
	if _, ok := git.Answered(err); ok || git.IsBadOutput(err) {
		done.Dirty, done.Work = true, ""
		return nil
	}
	return err
}
