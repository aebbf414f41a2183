package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// arrival is what came into quarantine.
type arrival struct {
	tip     string
	pack    string          // its name; empty: not known
	objects map[string]bool // that lead to the tip and are new, or the first of them
}

// packEnds are the files of a pack, in the order in which they come into place:
// without its index it counts for nothing. What git keeps besides it can do
// without.
var packEnds = []string{".pack", ".idx"}

// release moves what made the tip, and nothing else that lies in quarantine,
// into the trusted store: the pack that came in, where that holds nothing else,
// or another. The index of a pack comes into place last, so a kill leaves a
// pack that counts or one that does not.
func (q *quarantine) release(ctx context.Context, tip string) error {
	bring := q.packAgain
	if tip == q.came.tip && q.pure() {
		bring = q.move
	}
	name, err := bring(ctx, tip)
	if err != nil {
		return fmt.Errorf("take objects in: %w", err)
	}
	q.newest = name
	if q.keep(tip) {
		return nil
	}
	return q.set(ctx, taken, tip)
}

// keep sets the ref that keeps what was taken in, as git does where a ref is a
// file; false where it is none. Nobody else writes here: a lock that is there was
// left by a kill.
func (t *Trusted) keep(sha string) bool {
	home, err := untrusted.OpenRoot(t.Dir)
	if err != nil {
		return false
	}
	defer home.Close() //nolint:errcheck // only a handle
	if info, err := home.Lstat("refs/heads"); err != nil || !info.IsDir() || home.MkdirAll(path.Dir(taken), 0o755) != nil {
		return false
	}
	const lock = taken + ".lock"
	file, err := home.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return false
	}
	_, err = file.WriteString(sha + "\n")
	return errors.Join(err, file.Sync(), file.Close()) == nil && home.Rename(lock, taken) == nil
}

// packAgain packs what made the tip.
func (q *quarantine) packAgain(ctx context.Context, tip string) (name string, err error) {
	out, err := q.do(ctx, call{
		args:  []string{"pack-objects", "-q", "--revs", filepath.Join(q.Trusted.objects(), "pack", "pack")},
		stdin: strings.NewReader(fmt.Sprintf("%s\n^%s\n^%s\n", tip, q.terms.Base, q.terms.Last)),
	})
	return packName(out), err
}

// pure tells whether the pack that came in holds nothing but what was found on
// the way from the tip, every object of which was looked at.
func (q *quarantine) pure() bool {
	index, ok := readInside(filepath.Join(q.objects(), "pack"), "pack-"+q.came.pack+".idx", 1<<20)
	if !ok {
		return false
	}
	ids, ok := readIndex(index, len(q.came.tip)/2)
	for _, id := range ids {
		ok = ok && q.came.objects[id]
	}
	return ok
}

// move brings the pack that came in out of quarantine.
func (q *quarantine) move(context.Context, string) (name string, err error) {
	for _, end := range packEnds {
		file := filepath.Join("pack", "pack-"+q.came.pack+end)
		if err := os.Rename(filepath.Join(q.objects(), file), filepath.Join(q.Trusted.objects(), file)); err != nil {
			return "", err
		}
	}
	return q.came.pack, nil
}

// packName is the name of the pack that git says it has made; empty where it
// says none.
func packName(out []byte) string {
	name := strings.TrimSuffix(strings.TrimPrefix(string(out), "pack\t"), "\n")
	if checkSHA(name) != nil {
		return ""
	}
	return name
}

// readIndex reads the names of objects in the index of a pack: a mark, how many
// there are up to each first byte, then the names.
func readIndex(text []byte, size int) (ids []string, ok bool) {
	const first = 256 * 4
	rest, ok := bytes.CutPrefix(text, indexMark)
	if !ok || len(rest) < first {
		return nil, false
	}
	count := int(binary.BigEndian.Uint32(rest[first-4 : first]))
	if rest = rest[first:]; count > len(rest)/size {
		return nil, false
	}
	for i := range count {
		ids = append(ids, hex.EncodeToString(rest[i*size:(i+1)*size]))
	}
	return ids, true
}
