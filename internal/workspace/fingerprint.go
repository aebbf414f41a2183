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
	"os"
	"path"
	"syscall"
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
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close() //nolint:errcheck // only a handle
	p := fingerprint{ctx: ctx, root: root, folder: root, at: ".", sum: sha256.New(), left: mostContent, page: make([]byte, 64<<10)}
	defer func() { p.leave() }()
	if err := fs.WalkDir(root.FS(), ".", p.visit); err != nil {
		return ""
	}
	return hex.EncodeToString(p.sum.Sum(nil))
}

// fingerprint is one being taken.
type fingerprint struct {
	ctx    context.Context
	root   *os.Root
	folder *os.Root // where the newest file was read
	at     string   // the folder's path
	sum    hash.Hash
	files  int
	left   int64 // of what is read
	page   []byte
}

func (p *fingerprint) visit(name string, entry fs.DirEntry, err error) error {
	switch p.files++; {
	case p.files > mostFiles:
		return errTooLarge
	case p.ctx.Err() != nil:
		return p.ctx.Err()
	case err != nil && name == ".":
		return err
	case name == activeFile, name == ".ralph":
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	case err != nil:
		return nil //nolint:nilerr // one that nobody may read is not the agent's work
	}
	info, err := entry.Info()
	if err != nil {
		return nil //nolint:nilerr // it went while we looked
	}
	fmt.Fprintf(p.sum, "%q %v", name, info.Mode())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := p.root.Readlink(name)
		fmt.Fprintf(p.sum, " %q", to)
	case info.Mode().IsRegular() && !p.content(name, info.Size()):
		fmt.Fprintf(p.sum, " %d %d", info.Size(), info.ModTime().UnixNano())
	}
	return nil
}

// open opens a file by its folder, which is the last one's nearly always: from
// the root every folder on the way would be opened again. A pipe that came in its
// place meanwhile would keep whoever opens it, but for the flag.
func (p *fingerprint) open(name string) (*os.File, error) {
	if at := path.Dir(name); at != p.at {
		folder, err := p.root.OpenRoot(at)
		if err != nil {
			return nil, err
		}
		p.leave()
		p.folder, p.at = folder, at
	}
	return p.folder.OpenFile(path.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// leave closes the folder, but for the root.
func (p *fingerprint) leave() {
	if p.folder != p.root {
		_ = p.folder.Close() // only a handle
	}
}

// content adds what a file holds, and tells whether it could.
func (p *fingerprint) content(name string, size int64) bool {
	if size > largest || size > p.left {
		return false
	}
	p.left -= size
	file, err := p.open(name)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	fmt.Fprintf(p.sum, " %d ", size)
	_, err = io.CopyBuffer(p.sum, io.LimitReader(file, largest), p.page)
	return err == nil
}
