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

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// quarantine is a temporary object folder, where new objects are checked.
type quarantine struct {
	*git.Trusted
	dir   string
	terms Terms

	compared    map[git.Span][]git.Change
	blobs       map[string]blob // the examined ones
	changes     int             // in all commits
	differences int             // in all comparisons; long paths count more
	bytes       int64           // read from blobs
}

// newQuarantine makes an empty quarantine. A killed Take may have left one.
func newQuarantine(t *git.Trusted, terms Terms) (*quarantine, error) {
	q := &quarantine{
		Trusted:  t,
		dir:      filepath.Join(t.Dir, "quarantine"),
		terms:    terms,
		compared: map[git.Span][]git.Change{},
		blobs:    map[string]blob{},
	}
	if err := untrusted.RemoveAll(q.dir); err != nil {
		return nil, fmt.Errorf("clear the quarantine: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(q.objects(), "info"), 0o700); err != nil {
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	return q, untrusted.WriteFile(filepath.Join(q.objects(), "info", "alternates"), []byte(objects(t)+"\n"), 0o444)
}

// remove ignores errors: the next newQuarantine removes the rest.
func (q *quarantine) remove() { _ = untrusted.RemoveAll(q.dir) }

func objects(t *git.Trusted) string { return filepath.Join(t.Dir, "objects") }

func (q *quarantine) objects() string { return filepath.Join(q.dir, "objects") }

// Do runs git on the trusted repository, and has it write objects to the quarantine.
func (q *quarantine) Do(ctx context.Context, c git.Call) ([]byte, error) {
	c.Env = append([]string{"GIT_OBJECT_DIRECTORY=" + q.objects()}, c.Env...)
	c.Timeout = cmp.Or(c.Timeout, q.terms.Timeout)
	c.Memory = git.MaxMemory
	return q.Trusted.Do(ctx, c)
}

func (q *quarantine) Ask(ctx context.Context, args ...string) (string, error) {
	out, err := q.Do(ctx, git.Call{Args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// receive fetches and checks the objects of tip that the trusted repository lacks.
// A file holds the pack between the two gits: neither can make the other wait.
func (q *quarantine) receive(ctx context.Context, tree *git.Tree, tip string) error {
	name := filepath.Join(q.dir, "pack")
	pack, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:forbidigo // it makes the file
	if err != nil {
		return fmt.Errorf("keep the pack: %w", err)
	}
	defer pack.Close() //nolint:errcheck // remove deletes the file
	if err := q.fetchPack(ctx, tree, tip, pack); err != nil {
		return err
	}
	if _, err := pack.Seek(0, 0); err != nil {
		return fmt.Errorf("keep the pack: %w", err)
	}
	_, err = q.Do(ctx, git.Call{
		Args: []string{
			"index-pack", "--stdin", "--fix-thin", "--strict=badFilemode=error",
			"--max-input-size=" + strconv.FormatInt(q.terms.MaxPack, 10),
		},
		Stdin: pack,
		// A small pack can need more memory and time than there is. The settings
		// make git refuse a large object by its size instead of streaming it.
		Env: []string{"GIT_ALLOC_LIMIT=" + strconv.FormatInt(max(q.terms.MaxFile, 20<<20)+(4<<20), 10)},
		Set: []git.Setting{
			{Key: "core.bigFileThreshold", Value: "1000g"},
			{Key: "core.deltaBaseCacheLimit", Value: "16m"},
			{Key: "pack.threads", Value: "1"}, // each thread needs memory
		},
	})
	if err == nil {
		return nil
	}
	why := blame(err, "its objects are corrupt")
	if overLimit(err) {
		why = refuse("one of its objects is larger than %d MiB", q.terms.MaxFile>>20)
	}
	return errors.Join(errBomb, why) // their full size is unknown
}

func overLimit(err error) bool {
	failed, ok := git.Answered(err)
	return ok && strings.Contains(failed.Stderr, "over limit")
}

// maxQueue limits one allocation of a comparison: git keeps all differences in memory, and a tree of a few objects can
// differ in endless paths. It suffices for as many paths as the output limit allows.
const maxQueue = 1800 << 10

func (q *quarantine) doWithLessMemory(ctx context.Context, c git.Call) ([]byte, error) {
	c.Env = append([]string{"GIT_ALLOC_LIMIT=" + strconv.Itoa(maxQueue)}, c.Env...)
	return q.Do(ctx, c)
}

// maxDifferences limits the differences per allowed change: a merge differs from each parent.
const maxDifferences = 5

func (q *quarantine) compare(ctx context.Context, span git.Span) ([]git.Change, error) {
	if known, ok := q.compared[span]; ok {
		return slices.Clone(known), nil
	}
	changes, err := git.Compare(ctx, q.doWithLessMemory, span)
	if err != nil {
		return nil, err
	}
	for _, c := range changes { // they stay in memory
		q.differences += 1 + len(c.Path)/256
	}
	if q.differences > maxDifferences*q.terms.MaxChanges {
		return nil, errors.Join(errBomb,
			refuse("the commits up to %.12s differ from their parents in too many files together", span.To))
	}
	q.compared[span] = slices.Clone(changes)
	return changes, nil
}

// fetchPack writes a pack of the new objects. Its git runs in the tree, as the agent's user.
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

// release packs the objects of tip, and no others from the quarantine, into the trusted repository. git writes the
// index of a pack last, so a kill leaves either a complete pack or one that git ignores.
func (q *quarantine) release(ctx context.Context, tip string) error {
	_, err := q.Do(ctx, git.Call{
		Args:  []string{"pack-objects", "-q", "--revs", filepath.Join(objects(q.Trusted), "pack", "pack")},
		Stdin: strings.NewReader(fmt.Sprintf("%s\n^%s\n^%s\n", tip, q.terms.Base, q.terms.Last)),
	})
	if err != nil {
		return fmt.Errorf("accept objects: %w", err)
	}
	// Only this program writes here: an existing lock was left by a kill.
	if err := os.Remove(filepath.Join(q.Dir, git.TakenRef+".lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove a stale lock: %w", err)
	}
	return q.UpdateRef(ctx, git.TakenRef, tip)
}
