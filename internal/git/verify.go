package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is what git names objects by
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// VerifyObjects is a fault where something that these commits hold is not what its name
// says. Who can write to a store can put another content where an object was:
// git reads it without a look, and shows no change.
func (t *Trusted) VerifyObjects(ctx context.Context, commits ...string) error {
	if err := CheckSHA(commits...); err != nil {
		return err
	}
	out, err := t.Do(ctx, Call{Args: append([]string{"rev-list", "--objects", "--no-walk", "--no-object-names"}, commits...), Limit: noEnd, Timeout: farther})
	names := strings.Fields(string(out))
	if err == nil {
		err = named(ctx, t.Do, names)
	}
	if err == nil {
		err = t.namedEverywhere(ctx, names)
	}
	if failed, said := Answered(err); said && !failed.TimedOut || errors.Is(err, errMisnamed) || errors.Is(err, errMissing) {
		return fault.Usage("an object of the repository is corrupt: "+err.Error(), "git fsck shows which; a fresh clone has them all", nil)
	}
	return err
}

const noEnd = 1 << 50

// named is an error if an object's content does not have its name.
func named(ctx context.Context, do Runner, names []string) error {
	return CatFile(ctx, do, Call{Limit: noEnd, Timeout: farther}, names, func(o Object) error {
		sum := sha1.New() //nolint:gosec // see above
		if len(o.ID) == 2*sha256.Size {
			sum = sha256.New()
		}
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
func (t *Trusted) namedEverywhere(ctx context.Context, names []string) error {
	packs, err := t.packs(ctx)
	if err != nil || len(packs) < 2 {
		return err
	}
	copies := map[string]int{} // by name, none seen yet
	for _, id := range names {
		copies[id] = 0
	}
	held := make([][]string, len(packs))
	for i, pack := range packs {
		if held[i], err = t.holds(ctx, pack+".idx", copies); err != nil {
			return err
		}
	}
	for i, pack := range packs {
		several := slices.DeleteFunc(held[i], func(id string) bool { return copies[id] < 2 })
		if err := t.namedIn(ctx, pack, several); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trusted) namedIn(ctx context.Context, pack string, ids []string) error {
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
	return named(ctx, func(ctx context.Context, c Call) ([]byte, error) {
		c.Env = append(c.Env, "GIT_OBJECT_DIRECTORY="+dir)
		return t.Do(ctx, c)
	}, ids)
}

func (t *Trusted) packs(ctx context.Context) (packs []string, err error) {
	stores, err := t.stores(ctx)
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
func (t *Trusted) stores(ctx context.Context) ([]string, error) {
	out, err := t.Ask(ctx, "count-objects", "-v")
	stores := []string{t.objects()}
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

// holds are the objects that the index of a pack names, counted in copies.
func (t *Trusted) holds(ctx context.Context, index string, copies map[string]int) (held []string, err error) {
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
	_, err = t.Do(ctx, Call{Args: []string{"show-index"}, Stdin: file, Stdout: lines, Limit: noEnd, Timeout: farther, Memory: mostInTree})
	if err = errors.Join(err, lines.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", index, err)
	}
	return held, nil
}
