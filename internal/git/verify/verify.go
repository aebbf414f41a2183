// Package verify holds objects of a repository, and a checkout of them, to their names. Who can
// write to a store can put another content where an object was: git reads it without a look,
// and shows no change.
package verify

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is what git names objects by
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// seen are objects of a commit, as its checkout shows them: git read these blobs as they are
// named. The last tree is the commit's.
type seen struct{ trees, blobs []string }

// objects is a fault where something that these commits hold is not what its name says.
func objects(ctx context.Context, t *git.Trusted, seen seen, commits ...string) error {
	if err := git.CheckSHA(commits...); err != nil {
		return err
	}
	args := []string{"rev-list", "--objects", "--no-object-names"}
	for _, commit := range commits {
		args = append(args, commit+"^{tree}")
	}
	if n := len(seen.trees); n > 0 {
		args = append(args, "^"+seen.trees[n-1])
	}
	out, err := t.Do(ctx, git.Call{Args: args, Limit: noEnd, Timeout: longer, Memory: git.MaxMemory})
	names := slices.Concat(commits, seen.trees, strings.Fields(string(out)))
	if err == nil {
		err = named(ctx, t.Do, names)
	}
	if err == nil {
		err = namedEverywhere(ctx, t, append(names, seen.blobs...))
	}
	if failed, said := git.Answered(err); said && !failed.TimedOut || errors.Is(err, errMisnamed) || git.IsBadOutput(err) {
		return fault.Usage("an object of the repository is corrupt: "+err.Error(), "git fsck shows which; a fresh clone has them all", nil)
	}
	return err
}

// hashOf returns what made an object's name.
func hashOf(id string) hash.Hash {
	if len(id) == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New() //nolint:gosec // see above
}

const (
	noEnd  = 1 << 50
	longer = 10 * time.Minute
)

// named is an error if an object's content does not have its name.
func named(ctx context.Context, do git.Runner, names []string) error {
	return git.CatFile(ctx, do, git.Call{Limit: noEnd, Timeout: longer, Memory: git.MaxMemory}, names, func(o git.Object) error {
		sum := hashOf(o.ID)
		fmt.Fprintf(sum, "%s %d\x00", o.Kind, o.Size)
		if _, err := io.Copy(sum, o.Content); err != nil {
			return err
		}
		if fmt.Sprintf("%x", sum.Sum(nil)) != o.ID {
			return fmt.Errorf("%s: %w", o.ID, errMisnamed)
		}
		return nil
	})
}

var errMisnamed = errors.New("its content does not match its name")

// namedEverywhere looks at the objects of which there are several copies, in each
// pack by itself: which one git reads goes by what it has read before, and is
// another for a checkout than for a look at all of them.
func namedEverywhere(ctx context.Context, t *git.Trusted, names []string) error {
	packs, err := packsOf(ctx, t)
	if err != nil || len(packs) < 2 {
		return err
	}
	copies := map[string]int{} // by name, none seen yet
	for _, id := range names {
		copies[id] = 0
	}
	held := make([][]string, len(packs))
	for i, pack := range packs {
		if held[i], err = holds(ctx, t, pack+".idx", copies); err != nil {
			return err
		}
	}
	for i, pack := range packs {
		several := slices.DeleteFunc(held[i], func(id string) bool { return copies[id] < 2 })
		if err := namedIn(ctx, t, pack, several); err != nil {
			return err
		}
	}
	return nil
}

func namedIn(ctx context.Context, t *git.Trusted, pack string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp(t.Dir, "alone-")
	if err != nil {
		return err
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // links in a folder of ours
	to := filepath.Join(dir, "pack", "pack-alone")
	err = os.Mkdir(filepath.Dir(to), 0o700)
	for _, end := range []string{".pack", ".idx"} {
		err = errors.Join(err, os.Symlink(pack+end, to+end))
	}
	if err != nil {
		return err
	}
	return named(ctx, func(ctx context.Context, c git.Call) ([]byte, error) {
		c.Env = append(c.Env, "GIT_OBJECT_DIRECTORY="+dir)
		return t.Do(ctx, c)
	}, ids)
}

func packsOf(ctx context.Context, t *git.Trusted) (packs []string, err error) {
	stores, err := storesOf(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, store := range stores {
		entries, err := untrusted.ReadDir(filepath.Join(store, "pack"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("look for packs: %w", err)
		}
		for _, entry := range entries {
			name, is := strings.CutSuffix(filepath.Join(store, "pack", entry.Name()), ".idx")
			if _, err := os.Stat(name + ".pack"); is && err == nil {
				packs = append(packs, name)
			}
		}
	}
	return packs, nil
}

// stores are as git names them: a line of alternates may say one in several ways.
func storesOf(ctx context.Context, t *git.Trusted) ([]string, error) {
	out, err := t.Ask(ctx, "count-objects", "-v")
	stores := []string{filepath.Join(t.Dir, "objects")}
	for line := range strings.Lines(out) {
		store, is := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alternate: ")
		if plain, err := strconv.Unquote(store); err == nil {
			store = plain // letters beyond ASCII are written in digits
		}
		if is {
			stores = append(stores, store)
		}
	}
	return stores, err
}

// holds returns the objects that the index of a pack names, counted in copies.
func holds(ctx context.Context, t *git.Trusted, index string, copies map[string]int) (held []string, err error) {
	file, err := untrusted.Open(index)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", index, err)
	}
	defer file.Close() //nolint:errcheck // it was read
	lines := &process.Lines{Max: 1 << 10, Each: func(line []byte, _ bool) {
		_, id, _ := strings.Cut(string(line), " ") // where it is, its name, and in newer ones a checksum
		id, _, _ = strings.Cut(id, " ")
		if _, wanted := copies[id]; wanted {
			copies[id]++
			held = append(held, id)
		}
	}}
	_, err = t.Do(ctx, git.Call{Args: []string{"show-index"}, Stdin: file, Stdout: lines, Limit: noEnd, Timeout: longer, Memory: git.MaxMemory})
	if err = errors.Join(err, lines.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", index, err)
	}
	return held, nil
}
