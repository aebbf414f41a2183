package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // as git names objects
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// copied is what a copy has of the repository that it was made of.
type copied struct {
	from *Trusted

	mu     sync.Mutex
	has    map[string]bool // commits with all that they hold, and their ancestors without
	newest string          // commit that was copied
}

// Copy returns what proofs read instead of the user's objects. Agents and all programs of the
// user can write to these, and git reads an object without a look at its name. A copy has no
// alternates: what a commit holds comes in when it is first asked for, through git index-pack,
// which names each object by its content. A repository that borrows nothing is its own copy.
func (t *Trusted) Copy(ctx context.Context) (*Trusted, error) {
	if len(t.lent) == 0 || t.copied != nil {
		return t, nil
	}
	t.copying.Lock()
	defer t.copying.Unlock()
	if t.copy != nil {
		return t.copy, nil
	}
	c, err := t.git.Init(ctx, filepath.Join(t.Dir, "copy"), t.format)
	if err != nil {
		return nil, err
	}
	c.lent, c.copied = t.Lent(), &copied{from: t, has: map[string]bool{}}
	t.copy = c
	return c, shareEnd(c.Dir, filepath.Join(t.Dir, "shallow"))
}

// need checks ids of commits. It copies them, their ancestors, and all that they hold themselves, into a copy.
func (t *Trusted) need(ctx context.Context, commits ...string) error {
	if err := CheckSHA(commits...); err != nil || t.copied == nil {
		return err
	}
	t.copied.mu.Lock()
	defer t.copied.mu.Unlock()
	for _, sha := range commits {
		if t.copied.has[sha] {
			continue
		}
		history, held := []string{sha}, []string{"--objects", "--no-object-names", sha + "^{tree}"}
		if newest := t.copied.newest; newest != "" {
			history, held = append(history, "^"+newest), append(held, "^"+newest+"^{tree}")
		}
		if err := errors.Join(t.bring(ctx, history), t.bring(ctx, held)); err != nil {
			return err
		}
		t.copied.has[sha], t.copied.newest = true, sha
	}
	return nil
}

// made notes a commit of the copy itself, of objects that it has.
func (t *Trusted) made(sha string) {
	if t.copied != nil {
		t.copied.mu.Lock()
		defer t.copied.mu.Unlock()
		t.copied.has[sha] = true
	}
}

// bring copies the objects that rev-list finds. They are all there if rev-list finds them in the copy, too.
func (t *Trusted) bring(ctx context.Context, which []string) error {
	list := Call{Args: append([]string{"rev-list"}, which...), Limit: noEnd, Timeout: longer, Memory: MaxMemory}
	ids, err := t.copied.from.Do(ctx, list)
	if err == nil {
		err = t.index(ctx, string(ids))
	}
	if err == nil {
		list.Args = append([]string{"rev-list", "--quiet"}, which...)
		_, err = t.Do(ctx, list)
	}
	if failed, said := Answered(err); said && !failed.TimedOut {
		return fault.Usage("an object of the repository is corrupt: "+err.Error(), "git fsck shows which; a fresh clone has them all", nil)
	}
	return err
}

const noEnd, longer = 1 << 50, 10 * time.Minute

// index packs objects of the user's repository, and unpacks them under the names of what they hold.
func (t *Trusted) index(ctx context.Context, ids string) error {
	pack, packed := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := t.copied.from.Do(ctx, Call{
			Args: []string{"pack-objects", "-q", "--stdout", "--delta-base-offset", "--window=0"}, Stdin: strings.NewReader(ids),
			Stdout: packed, Limit: noEnd, Timeout: longer, Memory: MaxMemory,
		})
		_ = packed.CloseWithError(err)
		ended <- err
	}()
	_, err := t.Do(ctx, Call{Args: []string{"index-pack", "--stdin"}, Stdin: pack, Timeout: longer, Memory: MaxMemory})
	_ = pack.CloseWithError(errStopped)
	if failed := <-ended; failed != nil {
		return failed
	}
	return err
}

// Limits of a shallow file: its commits, and what these hold together.
const (
	maxEnds     = 10_000
	maxEndsText = 64 << 20
)

// dropFalseEnds believes that the history ends at a commit only where its parents are missing.
func (t *Trusted) dropFalseEnds(ctx context.Context) error {
	name := filepath.Join(t.Dir, "shallow")
	text, err := untrusted.ReadFile(name, maxOutput)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read where the history ends: %w", err)
	}
	ends := slices.DeleteFunc(strings.Fields(string(text)), func(id string) bool { return CheckSHA(id) != nil })
	slices.Sort(ends)
	if ends = slices.Compact(ends); len(ends) > maxEnds {
		return fault.Usage(fmt.Sprintf("the history ends at %d commits, more than %d", len(ends), maxEnds), "fetch all of it: git fetch --unshallow", nil)
	}
	kept, err := t.trueEnds(ctx, ends)
	if err != nil {
		return fmt.Errorf("read where the history ends: %w", err)
	}
	return publish(name, strings.Join(append(kept, ""), "\n"), 0o644)
}

// trueEnds returns the commits that are there, and whose parents are not.
func (t *Trusted) trueEnds(ctx context.Context, ends []string) ([]string, error) {
	found, err := kinds(ctx, t.Do, ends)
	if err != nil {
		return nil, err
	}
	ends = slices.DeleteFunc(ends, func(id string) bool { return found[id] != "commit" })
	parents := map[string][]string{}
	err = CatFile(ctx, t.Do, Call{Limit: maxEndsText}, ends, func(o Object) error {
		text, err := io.ReadAll(o.Content)
		if err == nil && nameOf(o, text) != o.ID {
			err = fault.Usage("the commit "+o.ID+" is corrupt", "git fsck shows more; a fresh clone has it", nil)
		}
		parents[o.ID] = parentsIn(string(text))
		return err
	})
	if err != nil {
		return nil, err
	}
	there, err := kinds(ctx, t.Do, slices.Concat(slices.Collect(maps.Values(parents))...))
	return slices.DeleteFunc(ends, func(id string) bool {
		return slices.ContainsFunc(parents[id], func(parent string) bool { return there[parent] != "" })
	}), err
}

// nameOf returns the id of an object by what it holds.
func nameOf(o Object, content []byte) string {
	sum := sha1.New() //nolint:gosec // as git names objects
	if format(o.ID) == "sha256" {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", o.Kind, len(content))
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}

func parentsIn(commit string) (ids []string) {
	head, _, _ := strings.Cut(commit, "\n\n")
	for line := range strings.Lines(head) {
		if parent, is := strings.CutPrefix(strings.TrimSpace(line), "parent "); is && CheckSHA(parent) == nil {
			ids = append(ids, parent)
		}
	}
	return ids
}
