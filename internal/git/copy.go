package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// Nearest returns the copy if it has a commit, as it is quicker to read, else the repository itself.
func (t *Trusted) Nearest(commit string) *Trusted {
	t.copying.Lock()
	defer t.copying.Unlock()
	if t.copy != nil {
		t.copy.copied.mu.Lock()
		defer t.copy.copied.mu.Unlock()
		if t.copy.copied.has[commit] {
			return t.copy
		}
	}
	return t
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
		history, held := []string{sha}, []string{sha + "^{tree}"}
		if newest := t.copied.newest; newest != "" {
			history, held = append(history, "^"+newest), append(held, "^"+newest+"^{tree}")
		}
		if err := errors.Join(t.bring(ctx, history, false), t.bring(ctx, held, true)); err != nil {
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

// bring packs the objects of some revisions in the user's repository, or only their commits, and
// unpacks them under the names of what they hold. They are all there if rev-list finds them then.
// All that a commit holds is stored uncompressed, because each checkout and search reads it.
func (t *Trusted) bring(ctx context.Context, revisions []string, whole bool) error {
	packing, listing := []string{"pack-objects", "-q", "--revs", "--stdout", "--window=0"}, []string{"rev-list", "--quiet"}
	if whole {
		packing, listing = append(packing, "--no-reuse-object", "--compression=0"), append(listing, "--objects")
	} else {
		packing = append(packing, "--delta-base-offset", "--filter=tree:0")
	}
	pack, packed, err := os.Pipe()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := t.copied.from.Do(ctx, Call{
			Args: packing, Stdin: strings.NewReader(strings.Join(revisions, "\n")),
			Stdout: packed, Limit: noEnd, Timeout: longer, Memory: MaxMemory,
		})
		_ = packed.Close()
		ended <- err
	}()
	_, err = t.Do(ctx, Call{Args: []string{"index-pack", "--stdin"}, Stdin: pack, Timeout: longer, Memory: MaxMemory})
	_ = pack.Close()
	failed := <-ended
	if answer, is := Answered(failed); failed != nil && (!is || answer.Exit != noReader) {
		err = failed
	}
	if err == nil {
		_, err = t.Do(ctx, Call{Args: append(listing, revisions...), Timeout: longer, Memory: MaxMemory})
	}
	if failed, said := Answered(err); said && !failed.TimedOut {
		if t.copied.from.partial {
			return fault.Usage("the repository is a partial clone, and an object is missing: "+err.Error(), "fetch all: git fetch --refetch --no-filter", nil)
		}
		return fault.Usage("an object of the repository is corrupt: "+err.Error(), "git fsck shows which; a fresh clone has them all", nil)
	}
	return err
}

const (
	noEnd    = 1 << 50
	noReader = 128 + 13 // the exit code after SIGPIPE
	longer   = 10 * time.Minute
)

const maxEnds = 1000 // of a history; agents can write any number to a laptop's .git/shallow

// dropFalseEnds believes that the history ends at a commit only where its parents are missing.
func (t *Trusted) dropFalseEnds(ctx context.Context) error {
	name := filepath.Join(t.Dir, "shallow")
	ends, err := untrusted.ReadFile(name, maxOutput)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	shas := slices.DeleteFunc(strings.Fields(string(ends)), func(sha string) bool { return CheckSHA(sha) != nil })
	slices.Sort(shas)
	if shas = slices.Compact(shas); len(shas) > maxEnds { // each takes two starts of git
		return fault.Usage(fmt.Sprintf("the history ends at %d commits, more than %d", len(shas), maxEnds), "fetch all of it: git fetch --unshallow", nil)
	}
	var kept strings.Builder
	for _, sha := range shas {
		text, failed := t.Do(ctx, Call{Args: []string{"cat-file", "commit", sha}})
		id, _ := trimNewline(t.Do(ctx, Call{Args: []string{"hash-object", "-t", "commit", "--stdin"}, Stdin: bytes.NewReader(text)}))
		switch {
		case failed == nil && id != sha:
			return fault.Usage("the commit "+OneLine(sha, 64)+" is corrupt", "git fsck shows more; a fresh clone has it", nil)
		case failed == nil && !t.hasParent(ctx, string(text)):
			kept.WriteString(sha + "\n")
		}
	}
	return errors.Join(err, publish(name, kept.String(), 0o644))
}

func (t *Trusted) hasParent(ctx context.Context, commit string) bool {
	head, _, _ := strings.Cut(commit, "\n\n")
	for line := range strings.Lines(head) {
		if parent, is := strings.CutPrefix(line, "parent "); is {
			if _, err := t.Ask(ctx, "cat-file", "-e", strings.TrimSpace(parent)); err == nil {
				return true
			}
		}
	}
	return false
}
