package verify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"sync"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Checkout is a fault where a clean checkout, or what is read of its commit and others, is not
// what their names say. Blobs of files that are what they should be need not be read from the
// store again. Where lines end otherwise than in the store, say, all are read.
func Checkout(ctx context.Context, t *git.Trusted, dir, commit string, others ...string) error {
	commits := append([]string{commit}, others...)
	tree, err := t.Ask(ctx, "rev-parse", commit+"^{tree}")
	if err != nil {
		return objects(ctx, t, seen{}, commits...)
	}
	found, err := lookAt(ctx, dir, func() hash.Hash { return hashOf(tree) })
	if err != nil || found.trees[len(found.trees)-1] != tree {
		found = seen{}
	}
	return errors.Join(ctx.Err(), objects(ctx, t, found, commits...))
}

// look names what a folder holds as git would.
type look struct {
	sum    hash.Hash
	page   []byte
	seen   seen
	dirs   []string
	folder map[string][]line // by directory
	err    error
}

type line struct{ order, text string } // of a tree object

var errUnlikeGit = errors.New("git makes no such file")

// lookAt has the folder's own tree last. A directory is looked into by another processor
// where one is idle: most of the time goes into opening and reading files.
func lookAt(ctx context.Context, dir string, sum func() hash.Hash) (seen, error) {
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		return seen{}, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	looks := make([]*look, runtime.GOMAXPROCS(0))
	idle := make(chan *look, len(looks))
	for i := range looks {
		looks[i] = &look{sum: sum(), page: make([]byte, 64<<10), folder: map[string][]line{}}
		idle <- looks[i]
	}
	var all sync.WaitGroup
	var walk func(l *look, top string)
	walk = func(l *look, top string) {
		l.err = cmp.Or(l.err, root.Walk(ctx, top, func(e untrusted.Entry, err error) error {
			if err == nil && e.Info.IsDir() && e.Path != top {
				select {
				case other := <-idle:
					all.Go(func() { walk(other, e.Path) })
					return fs.SkipDir
				default:
				}
			}
			return l.visit(e, err)
		}))
		idle <- l
	}
	walk(<-idle, ".")
	all.Wait()
	return joined(looks)
}

// joined makes the trees of what was looked at.
func joined(looks []*look) (seen, error) {
	l := looks[0] // began at the top
	for _, other := range looks[1:] {
		l.err = cmp.Or(l.err, other.err)
		l.seen.blobs, l.dirs = append(l.seen.blobs, other.seen.blobs...), append(l.dirs, other.dirs...)
		maps.Copy(l.folder, other.folder)
	}
	if l.err != nil {
		return seen{}, l.err
	}
	slices.SortStableFunc(l.dirs, func(a, b string) int { return cmp.Compare(len(a), len(b)) }) // each before those in it
	for _, dir := range slices.Backward(l.dirs) {
		lines := l.folder[dir]
		if len(lines) == 0 {
			return seen{}, errUnlikeGit
		}
		slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.order, b.order) })
		var tree bytes.Buffer
		for _, line := range lines {
			tree.WriteString(line.text)
		}
		id, err := l.name("tree", int64(tree.Len()), &tree)
		if err != nil {
			return seen{}, err
		}
		l.seen.trees = append(l.seen.trees, hex.EncodeToString(id))
		l.add(dir, "40000", "/", id)
	}
	return l.seen, nil
}

func (l *look) visit(e untrusted.Entry, err error) error {
	if err != nil {
		return err
	}
	mode := e.Info.Mode()
	switch {
	case e.Path == ".git":
		return fs.SkipDir
	case mode.IsDir():
		l.dirs = append(l.dirs, e.Path)
		return nil
	case mode.Type() == fs.ModeSymlink:
		to, err := e.In.Readlink(e.Name)
		if err != nil {
			return err
		}
		return l.blob(e.Path, "120000", int64(len(to)), bytes.NewReader([]byte(to)))
	case !mode.IsRegular():
		return errUnlikeGit
	}
	file, err := e.In.Open(e.Name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // was only read
	if mode&0o100 != 0 {
		return l.blob(e.Path, "100755", e.Info.Size(), file)
	}
	return l.blob(e.Path, "100644", e.Info.Size(), file)
}

func (l *look) blob(name, mode string, size int64, from io.Reader) error {
	id, err := l.name("blob", size, from)
	l.seen.blobs = append(l.seen.blobs, hex.EncodeToString(id))
	l.add(name, mode, "", id)
	return err
}

func (l *look) add(name, mode, end string, id []byte) {
	dir := path.Dir(name)
	l.folder[dir] = append(l.folder[dir], line{path.Base(name) + end, mode + " " + path.Base(name) + "\x00" + string(id)})
}

func (l *look) name(kind string, size int64, from io.Reader) ([]byte, error) {
	l.sum.Reset()
	fmt.Fprintf(l.sum, "%s %d\x00", kind, size)
	_, err := io.CopyBuffer(l.sum, struct{ io.Reader }{from}, l.page) // a File would allocate a buffer of its own
	return l.sum.Sum(nil), err
}
