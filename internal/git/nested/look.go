package nested

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// search is a folder to search for version control folders.
type search struct {
	git   git.Git
	top   string              // without links
	start string              // what is searched of it
	write []string            // where the command writes to
	kept  map[string]bool     // read-only or restored; in a folder, all that git does not write
	links *untrusted.Patience // to follow them: each may lead through many others

	before before
	mark   *workspace.Mark // the file that keeps it; may be nil
	stood  bool            // it is of an earlier command, or of another one
}

func (s search) name() string { return filepath.Join(s.top, s.start) }

func (s search) holds(dir string) bool { return dir == s.name() || within(s.name(), dir) }

// found is a path that can make git run, read or write more: all in version control folders that
// git does not write in everyday work, indexes, pipes anywhere, and unreadable folders.
type found map[string]thing

type thing struct {
	version string // its content, or when it changed; if unknown, it counts as changed
	folder  string // the version control folder that it belongs to
}

const (
	unknown = "\x00"   // in no path
	closed  = "closed" // a folder that cannot be read
	tooDeep = "too deep"
	exists  = "exists"
	inner   = "inner" // as the HEAD of a repository in another one, whose files all belong to it
)

const (
	mostEntries    = 1_000_000
	perEntry       = 16   // bytes that are kept
	perVisit       = 4096 // bytes of a path that is looked at
	mostCompared   = 256 << 20
	mostNested     = 1 << 20 // of a nested configuration
	mostAlternates = 4 << 10 // of a list of other stores: git follows few
	mostIncluded   = 100     // files that a nested configuration includes
	perInclude     = 1000    // what a configuration that includes files costs in entries: git is asked for them
	perFile        = 100     // what a path that is named in a file costs in entries: it may lead through links
)

// mostForLinks is for how long a search follows links, and mostForNames for how long what files name.
var mostForLinks, mostForNames = untrusted.Patience(10 * time.Second), untrusted.Patience(10 * time.Second)

// ErrNotAll says that a search ended early.
var ErrNotAll = errors.New("not all could be searched for repositories that were made inside: it has too many entries, or the time was up")

// ErrLinks says that a search did not follow all links, so that some may lead to pipes.
var ErrLinks = errors.New("following the links took too long: new ones may lead to pipes, for which programs wait")

// ErrNames says that a search did not look up all that files name.
var ErrNames = errors.New("looking up the paths that files of git name took too long: those files count as changed")

// look searches without following links. New closed folders are opened, and new pipes and links to
// them are removed: git and others would open them and wait for a writer.
func (s search) look(ctx context.Context, before *before) (_ found, end string, _ error) {
	*s.links = mostForLinks
	l := &look{search: s, ctx: ctx, before: before, found: found{}, entries: mostEntries, bytes: mostCompared, names: mostForNames}
	root, err := untrusted.OpenRoot(s.top)
	if err != nil {
		return l.found, ".", err
	}
	defer root.Close() //nolint:errcheck // only a handle
	if err = errors.Join(root.Walk(ctx, ".", l.visit), ctx.Err()); err != nil || l.entries < 0 {
		end, err = l.at, errors.Join(ErrNotAll, err)
	}
	if *s.links <= 0 {
		err = errors.Join(err, ErrLinks)
	}
	if l.names <= 0 {
		err = errors.Join(err, ErrNames)
	}
	return l.found, end, errors.Join(err, l.missed)
}

type look struct {
	search

	ctx     context.Context
	before  *before // nil: this is the first look
	found   found
	at      string   // the path last met
	in      []string // version control folders, each within the one before
	entries int      // what is left to look at: agents can leave any number
	bytes   int64
	names   untrusted.Patience // to look up what files name
	missed  error
}

// cost is how many entries a visit counts for: more where the path is longer than a kernel opens at once.
func cost(e untrusted.Entry) int { return 1 + len(e.Path)/perVisit }

func (l *look) visit(e untrusted.Entry, err error) error {
	if e.Path != l.start && !within(l.start, e.Path) { // walked from the top, so that depths are the same in each search
		if within(e.Path, l.start) {
			return nil
		}
		return fs.SkipDir
	}
	for len(l.in) > 0 && !within(l.folder(), e.Path) {
		l.in = l.in[:len(l.in)-1]
	}
	l.at, l.entries = e.Path, l.entries-cost(e)
	switch {
	case l.before.isAfter(e.Path):
		l.entries = -1
		return fs.SkipAll
	case l.entries < 0 || l.ctx.Err() != nil:
		return fs.SkipAll
	case errors.Is(err, fs.ErrNotExist): // it went while we looked
	case errors.Is(err, fs.ErrPermission): // the user's, or of another one
		l.keep(e.Path, thing{version: closed + e.Stamp()})
	case errors.Is(err, untrusted.ErrTooDeep) && (l.before == nil || l.isNew(e.Path)):
		l.keep(e.Path, thing{tooDeep, e.Path})
	case err != nil:
		l.missed = cmp.Or(l.missed, fmt.Errorf("cannot look into %s: %w", e.Path, err))
	case e.Info.IsDir():
		return l.enter(e)
	case l.isPipe(e):
		l.meetPipe(e)
	case l.kept[filepath.Join(l.top, e.Path)]:
	case path.Base(e.Path) == ".git", guarded.IsOther(e.Path):
		l.keep(e.Path, thing{l.version(e, e.Path) + l.led(e), e.Path})
	case len(l.in) > 0:
		l.tell(e, l.folder())
	}
	return nil
}

// meetPipe removes a pipe, unless it was one before.
func (l *look) meetPipe(e untrusted.Entry) {
	pipe := thing{version: exists}
	l.keep(e.Path, pipe)
	if l.before == nil || l.before.isSame(e.Path, pipe) {
		return
	}
	if err := e.In.Remove(e.Name); errors.Is(err, fs.ErrPermission) {
		e.In.OpenToOwner(".")
		_ = e.In.Remove(e.Name)
	}
}

// keep counts the length of what is kept as entries. It keeps nothing after the end: what was not read then would
// seem to have changed.
func (l *look) keep(path string, one thing) {
	if l.ctx.Err() != nil {
		return
	}
	l.found[path] = one
	l.entries -= (len(path) + len(one.version)) / perEntry
}

func (l *look) isNew(path string) bool {
	return l.before != nil && !l.before.has(path)
}

func (l *look) folder() string { return l.in[len(l.in)-1] }

func within(folder, path string) bool { return folder == "." || strings.HasPrefix(path, folder+"/") }

func (s search) isPipe(e untrusted.Entry) bool {
	mode := e.Info.Mode().Type()
	if mode == fs.ModeSymlink {
		s.links.Spend(func() {
			if to, err := os.Stat(filepath.Join(s.top, e.Path)); err == nil {
				mode = to.Mode().Type()
			}
		})
	}
	return mode == fs.ModeNamedPipe
}

// enter reports whether a folder belongs to version control. For git a folder with a HEAD is a repository, also within
// another one: objects and refs may be links, or elsewhere as commondir says. One without a HEAD may serve others.
func (l *look) enter(e untrusted.Entry) error {
	if e.Info.Mode().Perm()&0o500 != 0o500 && l.before != nil && !l.before.isSame(e.Path, thing{version: closed + e.Stamp()}) {
		e.In.OpenToOwner(e.Name)
	}
	name, place, begun := path.Base(e.Path), filepath.Join(l.top, e.Path), l.isBegun(e)
	switch {
	case name == ".git" && l.kept[place]:
	case name == ".git", guarded.IsOther(name), begun && (!l.isNew(e.Path) || !l.isLed(place)):
		if l.keep(e.Path, thing{exists, e.Path}); l.isNew(e.Path) {
			return fs.SkipDir // all of it is moved aside
		}
	case begun, isBare(e.Holds), l.wasBare(e), e.Holds("worktrees") && keepsWork(e.Holds):
		switch head := path.Join(e.Path, "HEAD"); {
		case !e.Holds("HEAD") || begun:
		case len(l.in) == 0: // other files may lie beside it
			l.keep(head, thing{exists, e.Path})
		default:
			l.keep(head, thing{inner, e.Path})
		}
	default:
		return nil
	}
	l.in = append(l.in, e.Path)
	return nil
}

// isBegun reports a worktree's or submodule's git folder, also one that a later command makes complete.
func (l *look) isBegun(e untrusted.Entry) bool {
	place := filepath.Join(l.top, e.Path)
	return (l.isModule(place) || l.isWorktree(place)) && guarded.IsFolder(e)
}

// wasBare reports a repository that stood there and misses a part, which a command may have moved: once it is back, git
// obeys its configuration and hooks again.
func (l *look) wasBare(e untrusted.Entry) bool {
	if !e.Holds("config") || l.isNew(path.Join(e.Path, "config")) || !e.Holds("HEAD") && !e.Holds("objects") && !e.Holds("refs") {
		return false
	}
	text, err := e.In.ReadFile(path.Join(e.Name, "config"), mostNested)
	return err == nil && bytes.Contains(text, []byte("repositoryformatversion"))
}

func isBare(has func(string) bool) bool { return has("HEAD") && keepsWork(has) }

func keepsWork(has func(string) bool) bool {
	return has("commondir") || has("objects") && has("refs")
}

// tell records what git does not write as plain files. In a guarded folder such files are restored.
func (l *look) tell(e untrusted.Entry, folder string) {
	name, _ := filepath.Rel(folder, e.Path) // it is in there
	first, _, _ := strings.Cut(name, "/")
	switch plain := e.Info.Mode().IsRegular(); {
	case strings.HasSuffix(first, Aside): // another command moved it
	case guarded.IsOther(folder) && !slices.Contains(guarded.Others, path.Base(folder)+"/"+name):
	case plain && (name == "index" || strings.HasPrefix(name, "sharedindex.")): // a split one is both
		at := path.Join(folder, "index")
		l.keep(at, thing{l.found[at].version + l.version(e, at), folder})
	case l.kept[filepath.Join(l.top, folder)], plain && guarded.Writes(name) && name != alternates:
	default:
		l.keep(e.Path, thing{l.version(e, e.Path), folder})
	}
}
