package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// quarantine is a store beside the trusted one, where new objects are checked.
type quarantine struct {
	*git.Trusted
	dir   string
	terms Terms

	compared    map[git.Span][]git.Change
	blobs       map[string]blob // that were looked at
	changes     int             // of all commits
	differences int             // of all comparisons
	bytes       int64           // that were read of blobs
}

// enter removes what a killed Take may have left.
func enter(t *git.Trusted, terms Terms) (*quarantine, error) {
	q := &quarantine{Trusted: t, dir: filepath.Join(t.Dir, "quarantine"), terms: terms, compared: map[git.Span][]git.Change{}, blobs: map[string]blob{}}
	if err := untrusted.RemoveAll(q.dir); err != nil {
		return nil, fmt.Errorf("clear the quarantine: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(q.objects(), "info"), 0o700); err != nil {
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	return q, untrusted.WriteFile(filepath.Join(q.objects(), "info", "alternates"), []byte(objects(t)+"\n"), 0o444)
}

// remove ignores errors: the next enter removes the rest.
func (q *quarantine) remove() { _ = untrusted.RemoveAll(q.dir) }

func objects(t *git.Trusted) string { return filepath.Join(t.Dir, "objects") }

func (q *quarantine) objects() string { return filepath.Join(q.dir, "objects") }

// do runs git on the trusted repository with the quarantine as its store.
func (q *quarantine) Do(ctx context.Context, c git.Call) ([]byte, error) {
	c.Env = append([]string{"GIT_OBJECT_DIRECTORY=" + q.objects()}, c.Env...)
	c.Timeout, c.Memory = cmp.Or(c.Timeout, q.terms.Timeout), git.MaxMemory
	return q.Trusted.Do(ctx, c)
}

func (q *quarantine) Ask(ctx context.Context, args ...string) (string, error) {
	out, err := q.Do(ctx, git.Call{Args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// receive fetches everything that tip has and the trusted store has not, and
// sees that it is sound. The pack is kept in a file between the two
// gits: neither can make the other wait.
func (q *quarantine) receive(ctx context.Context, tree *git.Tree, tip string) error {
	name := filepath.Join(q.dir, "pack")
	pack, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:forbidigo // it makes the file
	if err != nil {
		return fmt.Errorf("keep the pack: %w", err)
	}
	defer pack.Close() //nolint:errcheck // it is thrown away
	if err := q.fetchPack(ctx, tree, tip, pack); err != nil {
		return err
	}
	if _, err := pack.Seek(0, 0); err != nil {
		return fmt.Errorf("keep the pack: %w", err)
	}
	_, err = q.Do(ctx, git.Call{
		Args:  []string{"index-pack", "--stdin", "--fix-thin", "--strict=badFilemode=error", "--max-input-size=" + strconv.FormatInt(q.terms.MaxPack, 10)},
		Stdin: pack,
		// A small pack can unfold into more than there is memory, and than there
		// is time. What is too large is not streamed but refused by its length.
		Env: []string{"GIT_ALLOC_LIMIT=" + strconv.FormatInt(max(q.terms.MaxFile, 20<<20)+(4<<20), 10)},
		Set: []git.Setting{
			{Key: "core.bigFileThreshold", Value: "1000g"},
			{Key: "core.deltaBaseCacheLimit", Value: "16m"},
			{Key: "pack.threads", Value: "1"}, // each has memory of its own
		},
	})
	switch {
	case err == nil:
		return nil
	case overLimit(err):
		err = refuse("one of its objects is larger than %d MiB", q.terms.MaxFile>>20)
	default:
		err = blame(err, "its objects are corrupt")
	}
	return errors.Join(errBomb, err) // their full size is unknown
}

func overLimit(err error) bool {
	failed, ok := git.Answered(err)
	return ok && strings.Contains(failed.Stderr, "over limit")
}

// maxQueue is how much memory a comparison may take at once: git keeps all that
// differs until the last, and a tree of a few objects can differ without end.
// It is enough for as many paths as fit into what is read of its answer.
const maxQueue = 1800 << 10

func (q *quarantine) sparing(ctx context.Context, c git.Call) ([]byte, error) {
	c.Env = append([]string{"GIT_ALLOC_LIMIT=" + strconv.Itoa(maxQueue)}, c.Env...)
	return q.Do(ctx, c)
}

// maxDifferences is how many differences there may be for each change: a merge has them to each parent.
const maxDifferences = 5

func (q *quarantine) compare(ctx context.Context, span git.Span) ([]git.Change, error) {
	if known, is := q.compared[span]; is {
		return slices.Clone(known), nil
	}
	changes, err := git.Compare(ctx, q.sparing, span)
	if err != nil {
		return nil, err
	}
	if q.differences += len(changes); q.differences > maxDifferences*q.terms.MaxChanges { // they stay in memory
		return nil, errors.Join(errBomb, refuse("the merges up to %.12s differ from their parents in too many files together", span.To))
	}
	q.compared[span] = slices.Clone(changes)
	return changes, nil
}

// fetchPack runs inside, as the user who works there.
func (q *quarantine) fetchPack(ctx context.Context, tree *git.Tree, tip string, pack *os.File) error {
	_, err := tree.Do(ctx, git.Call{
		Args:    []string{"pack-objects", "-q", "--revs", "--stdout", "--delta-base-offset"},
		Stdin:   strings.NewReader(fmt.Sprintf("%s\n^%s\n^%s\n", tip, q.terms.Base, q.terms.Last)),
		Stdout:  pack,
		Limit:   q.terms.MaxPack,
		Timeout: q.terms.Timeout,
	})
	if failed, ok := git.Answered(err); ok && failed.TooLong {
		return refuse("its new objects are larger than %d MiB", q.terms.MaxPack>>20)
	}
	return blame(err, "the repository in the worktree does not hand over its commits")
}

// release packs what made the tip, and nothing else that lies in quarantine, into
// the trusted store. Git puts the index of a pack into place last, so a kill leaves
// a pack that counts or one that does not.
func (q *quarantine) release(ctx context.Context, tip string) error {
	_, err := q.Do(ctx, git.Call{
		Args:  []string{"pack-objects", "-q", "--revs", filepath.Join(objects(q.Trusted), "pack", "pack")},
		Stdin: strings.NewReader(fmt.Sprintf("%s\n^%s\n^%s\n", tip, q.terms.Base, q.terms.Last)),
	})
	if err != nil {
		return fmt.Errorf("take objects in: %w", err)
	}
	// Only this program writes here: an existing lock was left by a kill.
	if err := os.Remove(filepath.Join(q.Dir, git.TakenRef+".lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove a stale lock: %w", err)
	}
	return q.UpdateRef(ctx, git.TakenRef, tip)
}
