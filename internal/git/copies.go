package git

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// namedEverywhere looks at the objects of which there are several copies, in each
// pack by itself: which one git reads goes by what it has read before, and is
// another for a checkout than for a look at all of them.
func (t *Trusted) namedEverywhere(ctx context.Context, names []byte) error {
	packs, err := t.packs(ctx)
	if err != nil || len(packs) < 2 {
		return err
	}
	copies, err := counted(names)
	if err != nil {
		return err
	}
	held := make([][]string, len(packs))
	for i, pack := range packs {
		if held[i], err = holds(ctx, pack+".idx", copies); err != nil {
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

// counted are objects by their names in bytes, none of them seen yet.
func counted(names []byte) (map[string]int, error) {
	copies := map[string]int{}
	for name := range bytes.Lines(names) {
		id, err := hex.DecodeString(string(bytes.TrimSpace(name)))
		if err != nil {
			return nil, fmt.Errorf("list objects: %w", errOddAnswer)
		}
		copies[string(id)] = 0
	}
	return copies, nil
}

// namedIn looks at objects as one pack has them, where no other is.
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
	for _, end := range packEnds {
		err = errors.Join(err, os.Symlink(pack+end, to+end))
	}
	if err != nil {
		return err
	}
	var names strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&names, "%x\n", id)
	}
	return named(ctx, func(ctx context.Context, c call) ([]byte, error) {
		c.env = append(c.env, "GIT_OBJECT_DIRECTORY="+dir)
		return t.do(ctx, c)
	}, []byte(names.String()))
}

// packs are those of all stores that git reads here, without their endings.
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
	out, err := t.ask(ctx, "count-objects", "-v")
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

// indexMark begins the index of a pack.
var indexMark = []byte("\xfftOc\x00\x00\x00\x02")

// holds are those of the objects that the index of a pack names, counted in
// copies.
func holds(ctx context.Context, index string, copies map[string]int) (held []string, err error) {
	file, err := untrusted.Open(index)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", index, err)
	}
	defer file.Close() //nolint:errcheck // it was read
	from := bufio.NewReaderSize(file, 1<<16)
	between := 4 // bytes before each name, in the older form, which has no mark
	if mark, err := from.Peek(len(indexMark)); err == nil && bytes.Equal(mark, indexMark) {
		between = 0
		_, _ = from.Discard(len(mark)) // they are there
	}
	head := make([]byte, 256*4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, fmt.Errorf("read %s: %w", index, err)
	}
	entry := make([]byte, between)
	for one := range copies {
		entry = append(entry, one...) // as long as all are
		break
	}
	id := entry[between:]
	for range binary.BigEndian.Uint32(head[len(head)-4:]) { // what an agent wrote may say four billion
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(from, entry); err != nil {
			return nil, fmt.Errorf("read %s: %w", index, err)
		}
		if _, wanted := copies[string(id)]; wanted {
			copies[string(id)]++
			held = append(held, string(id))
		}
	}
	return held, nil
}
