package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// How much of a folder is looked at. In one that holds more, such as a home,
// nobody knows what has changed.
const (
	mostFiles   = 50_000
	mostContent = 64 << 20
)

var errTooLarge = errors.New("there are too many files to look at")

// Fingerprint tells the files of a folder that is no repository apart from
// those of another time: by their content, and by their size and time where
// that is too much to read. The program's own files do not count. It is empty
// where the folder holds too much, or cannot be read.
func Fingerprint(ctx context.Context, dir string) string {
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close() //nolint:errcheck // only a handle
	p := fingerprint{sum: sha256.New(), left: mostContent, page: make([]byte, 64<<10)}
	if err := root.Walk(ctx, ".", p.visit); err != nil {
		return ""
	}
	return hex.EncodeToString(p.sum.Sum(nil))
}

// fingerprint is one being taken.
type fingerprint struct {
	sum   hash.Hash
	files int
	left  int64 // of what is read
	page  []byte
}

func (p *fingerprint) visit(e untrusted.Entry, err error) error {
	switch p.files++; {
	case p.files > mostFiles:
		return errTooLarge
	case err != nil && (e.Path == "." || errors.Is(err, untrusted.ErrTooDeep)):
		return err
	case err != nil:
		return nil //nolint:nilerr // one that nobody may read is not the agent's work
	case e.Path == activeFile, e.Path == ".ralph":
		return fs.SkipDir
	}
	fmt.Fprintf(p.sum, "%q %v", e.Path, e.Info.Mode())
	switch {
	case e.Info.Mode()&fs.ModeSymlink != 0:
		to, _ := e.In.Readlink(e.Name)
		fmt.Fprintf(p.sum, " %q", to)
	case e.Info.Mode().IsRegular() && !p.content(e):
		fmt.Fprintf(p.sum, " %d %d", e.Info.Size(), e.Info.ModTime().UnixNano())
	}
	return nil
}

// content adds what a file holds, and tells whether it could.
func (p *fingerprint) content(e untrusted.Entry) bool {
	size := e.Info.Size()
	if size > largest || size > p.left {
		return false
	}
	p.left -= size
	file, err := e.In.Open(e.Name)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	fmt.Fprintf(p.sum, " %d ", size)
	_, err = io.CopyBuffer(p.sum, io.LimitReader(file, largest), p.page)
	return err == nil
}
