package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// quarantine is a store beside the trusted one: what comes from a tree is
// unpacked and looked at here, and everything that git writes meanwhile.
type quarantine struct {
	*Trusted
	dir   string
	terms Terms

	compared map[Span][]change
}

// quarantine clears what a killed Take may have left; there is never more than
// one at a time.
func (t *Trusted) quarantine(terms Terms) (*quarantine, error) {
	q := &quarantine{Trusted: t, dir: filepath.Join(t.Dir, "quarantine"), terms: terms, compared: map[Span][]change{}}
	if err := untrusted.RemoveAll(q.dir); err != nil {
		return nil, fmt.Errorf("clear the quarantine: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(q.objects(), "info"), 0o700); err != nil {
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	return q, publish(filepath.Join(q.objects(), "info", "alternates"), t.objects()+"\n", 0o444)
}

// remove cannot be the reason to lose the work: what it leaves is cleared by
// the next.
func (q *quarantine) remove() { _ = untrusted.RemoveAll(q.dir) }

func (q *quarantine) objects() string { return filepath.Join(q.dir, "objects") }

// do runs git on the trusted repository with the quarantine as its store.
func (q *quarantine) do(ctx context.Context, c call) ([]byte, error) {
	c.env = append([]string{"GIT_OBJECT_DIRECTORY=" + q.objects()}, c.env...)
	if c.timeout == 0 {
		c.timeout = q.terms.Timeout
	}
	return q.Trusted.do(ctx, c)
}

func (q *quarantine) ask(ctx context.Context, args ...string) (string, error) {
	out, err := q.do(ctx, call{args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// receive fetches everything that tip has and the trusted store has not, and
// sees that it is sound. The pack is kept in a file between the two
// gits: neither can make the other wait.
func (q *quarantine) receive(ctx context.Context, tree *Tree, tip string) error {
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
	_, err = q.do(ctx, call{
		args:  []string{"index-pack", "--stdin", "--fix-thin", "--strict=badFilemode=error", "--max-input-size=" + strconv.FormatInt(q.terms.MaxPack, 10)},
		stdin: pack,
		// A small pack can unfold into more than there is memory, and than there
		// is time. What is too large is not streamed but refused by its length.
		env: []string{"GIT_ALLOC_LIMIT=" + strconv.FormatInt(max(q.terms.MaxFile, 20<<20)+(4<<20), 10)},
		set: []setting{
			{"core.bigFileThreshold", "1000g"},
			{"core.deltaBaseCacheLimit", "16m"},
			{"pack.threads", "1"}, // each has memory of its own
		},
	})
	switch {
	case err == nil:
		return nil
	case overLimit(err):
		err = refuse("one of its objects is larger than %d MiB", q.terms.MaxFile>>20)
	default:
		err = blame(err, "its objects are not sound")
	}
	return errors.Join(errBomb, err) // nobody knows what they would have come to
}

// overLimit tells of a git that wanted more memory at once than it may have.
func overLimit(err error) bool {
	failed, ok := answered(err)
	return ok && strings.Contains(failed.errors, "over limit")
}

// maxQueue is how much memory a comparison may take at once: git keeps all that
// differs until the last, and a tree of a few objects can differ without end.
// It is enough for as many paths as fit into what is read of its answer.
const maxQueue = 1800 << 10

// sparing is do with little memory.
func (q *quarantine) sparing(ctx context.Context, c call) ([]byte, error) {
	c.env = append([]string{"GIT_ALLOC_LIMIT=" + strconv.Itoa(maxQueue)}, c.env...)
	return q.do(ctx, c)
}

// compare is compare, of the same two once.
func (q *quarantine) compare(ctx context.Context, span Span) ([]change, error) {
	if known, is := q.compared[span]; is {
		return slices.Clone(known), nil
	}
	changes, err := compare(ctx, q.sparing, span)
	if err != nil {
		return nil, err
	}
	q.compared[span] = slices.Clone(changes)
	return changes, nil
}

// fetchPack runs inside, as the user who works there.
func (q *quarantine) fetchPack(ctx context.Context, tree *Tree, tip string, pack *os.File) error {
	_, err := tree.do(ctx, call{
		args:    []string{"pack-objects", "-q", "--revs", "--stdout", "--delta-base-offset"},
		stdin:   strings.NewReader(fmt.Sprintf("%s\n^%s\n^%s\n", tip, q.terms.Base, q.terms.Last)),
		stdout:  pack,
		limit:   q.terms.MaxPack,
		timeout: q.terms.Timeout,
	})
	if failed, ok := answered(err); ok && failed.TooLong {
		return refuse("its new objects are larger than %d MiB", q.terms.MaxPack>>20)
	}
	return blame(err, "the repository in the worktree does not hand over its commits")
}
