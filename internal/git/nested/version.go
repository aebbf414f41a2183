package nested

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

const alternates = "objects/info/alternates"

// version returns the version of a file that is kept at a path, also of the target of a link and of what a
// configuration includes. Of a new one nothing is read.
func (l *look) version(e untrusted.Entry, at string) string {
	if l.isNew(at) {
		return unknown
	}
	var text string
	place := filepath.Join(l.top, e.Path)
	switch mode := e.Info.Mode(); {
	case mode.Type() == fs.ModeSymlink:
		text = mode.String() + l.versions(l.way(place).Names)
	case !mode.IsRegular():
		return mode.String()
	default:
		text = cmp.Or(e.Version(&l.bytes), unknown)
	}
	switch e.Name {
	case "config", "config.worktree":
		text += l.included(place)
	case "alternates":
		list, err := e.In.ReadFile(e.Name, mostAlternates)
		if l.entries -= perFile * (1 + bytes.Count(list, []byte("\n"))); err == nil && l.entries >= 0 { // each line is looked up
			text += strings.Join(l.stores(list, filepath.Dir(filepath.Dir(place))), " ")
		}
	}
	return text
}

// stores returns the places in a list of alternates.
func (l *look) stores(list []byte, objects string) (places []string) {
	for to := range strings.SplitSeq(guarded.Line(list), "\n") {
		places = append(places, l.lookUp(func() string { return untrusted.Place(filepath.Clean(guarded.Absolute(to, objects))) }))
	}
	return places
}

// lookUp finds a path for a limited time in all: each may lead through many links.
func (l *look) lookUp(find func() string) string {
	found := unknown
	l.names.Spend(func() { found = find() })
	return found
}

func (l *look) way(to string) (way untrusted.Way) {
	if l.lookUp(func() string { way = untrusted.WayOf(to); return "" }) == unknown {
		way.Names = []string{unknown}
	}
	return way
}

// included returns the versions of files in the tree that configurations include. With too many they are unknown.
func (l *look) included(configs ...string) string {
	ways, err := guarded.Includes{Size: mostNested, Files: mostIncluded, Way: l.way, List: func(config []byte) ([]byte, error) {
		if l.entries -= perInclude; l.entries < 0 {
			return nil, ErrNotAll
		}
		list, err := l.git.Includes(l.ctx)(config)
		if failed, ok := git.Answered(err); ok && !failed.TooLong && !failed.TimedOut {
			return nil, nil // git cannot read it, or finds nothing
		}
		return list, err
	}}.Of(nil, configs...)
	if l.entries -= len(ways.Names) * perFile; err != nil {
		return unknown
	}
	return l.versions(ways.Names)
}

// versions returns the versions of those paths that are in the tree.
func (l *look) versions(paths []string) string {
	var all strings.Builder
	for _, name := range paths {
		if all.WriteString(" " + name); within(l.top, name) {
			all.WriteString(l.elsewhere(name))
		}
	}
	return all.String()
}

func (l *look) elsewhere(name string) string {
	info, err := os.Lstat(name)
	if err != nil {
		return "missing"
	}
	if !info.Mode().IsRegular() {
		to, _ := os.Readlink(name)
		return info.Mode().Type().String() + to
	}
	folder, err := untrusted.OpenRoot(filepath.Dir(name))
	if err != nil {
		return unknown
	}
	defer folder.Close() //nolint:errcheck // only a handle
	return cmp.Or(untrusted.Entry{Info: info, In: folder, Name: filepath.Base(name)}.Version(&l.bytes), unknown)
}

// led returns where a file .git leads, and what that repository includes. One in the tree is found by itself.
func (l *look) led(e untrusted.Entry) string {
	if l.isNew(e.Path) {
		return unknown
	}
	text, _ := e.In.ReadFile(e.Name, 1<<12)
	to := l.lookUp(func() string { return guarded.Leads(text, filepath.Dir(filepath.Join(l.top, e.Path))) })
	if to == "" || to == unknown || within(l.top, to) {
		return to
	}
	common := to
	if text, err := untrusted.ReadFile(filepath.Join(to, "commondir"), 1<<12); err == nil {
		if common = l.lookUp(func() string { return untrusted.Place(guarded.Absolute(guarded.Line(text), to)) }); common == unknown {
			return unknown
		}
	}
	return to + l.included(filepath.Join(common, "config"), filepath.Join(to, "config.worktree"))
}
