package git

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
)

// copied is what a copy has of the repository that it was made of.
type copied struct {
	from *Trusted

	mu      sync.Mutex
	commits map[string]bool // with their ancestors, but not what these hold
	trees   map[string]bool // commits with all that they hold
	newest  string          // of trees
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
	c.lent, c.copied = t.Lent(), &copied{from: t, commits: map[string]bool{}, trees: map[string]bool{}}
	t.copy = c
	return c, shareEnd(c.Dir, filepath.Join(t.Dir, "shallow"))
}

// need checks ids of commits. It copies them, and all that they hold, into a copy.
func (t *Trusted) need(ctx context.Context, commits ...string) error {
	if err := CheckSHA(commits...); err != nil || t.copied == nil {
		return err
	}
	t.copied.mu.Lock()
	defer t.copied.mu.Unlock()
	for _, sha := range commits {
		if t.copied.trees[sha] {
			continue
		}
		which := []string{"--objects", "--no-object-names", sha + "^{tree}"}
		if t.copied.newest != "" {
			which = append(which, "^"+t.copied.newest+"^{tree}")
		}
		if err := t.bring(ctx, sha, which); err != nil {
			return err
		}
		t.copied.trees[sha], t.copied.newest = true, sha
	}
	return nil
}

// needHistory checks ids of commits. It copies them and their ancestors into a copy, without what they hold.
func (t *Trusted) needHistory(ctx context.Context, commits ...string) error {
	if err := CheckSHA(commits...); err != nil || t.copied == nil {
		return err
	}
	t.copied.mu.Lock()
	defer t.copied.mu.Unlock()
	for _, sha := range commits {
		if t.copied.commits[sha] {
			continue
		}
		which := []string{sha}
		for known := range t.copied.commits {
			which = append(which, "^"+known)
		}
		if err := t.bring(ctx, sha, which); err != nil {
			return err
		}
		t.copied.commits[sha] = true
	}
	return nil
}

// made notes a commit of the copy itself, of objects that it has.
func (t *Trusted) made(sha string) {
	if t.copied != nil {
		t.copied.mu.Lock()
		defer t.copied.mu.Unlock()
		t.copied.trees[sha] = true
	}
}

// bring copies a commit and the objects that rev-list finds for it. They are all there if
// rev-list finds them in the copy, too.
func (t *Trusted) bring(ctx context.Context, sha string, which []string) error {
	list := Call{Args: append([]string{"rev-list"}, which...), Limit: noEnd, Timeout: longer, Memory: MaxMemory}
	ids, err := t.copied.from.Do(ctx, list)
	if err == nil {
		err = t.index(ctx, sha+"\n"+string(ids))
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

const (
	noEnd  = 1 << 50
	longer = 10 * time.Minute
)

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
