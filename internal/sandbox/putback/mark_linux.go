package putback

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// mark is what a command found at a path. Recover and commands that begin while it runs need it: to them, what its
// program wrote meanwhile would be the user's own.
type mark struct {
	Dir, Name string
	Place     string // without links on the way to Dir
	Links     map[string]string
	Folder    guardedFolder
	Saved     map[string]savedNode // what stood at a path of ReadOnly or Fields
	Fields    []string             // of a JSON file, which may change
	Stays     bool                 // Recover moves nothing of it aside
}

func noMark(bool) error { return nil }

// begin returns the records of other commands.
func (f Files) begin() (records, func([]byte) (func(bool) error, error), error) {
	if f.Mark == nil {
		return nil, func([]byte) (func(bool) error, error) { return noMark, nil }, nil
	}
	texts, keep, err := f.Mark()
	all := records{}
	for _, text := range texts {
		for _, m := range decodeMarks(text) {
			all[record{m.Place, m.isGuard(), m.Folder.onlyName()}] = m
			all.addWay(m)
		}
	}
	return all, keep, err
}

// mark returns the text that tells Recover what a program can add to, and other commands what it can change.
func (all Kept) mark(mounted bool) ([]byte, error) {
	var marks []mark
	for _, g := range all.guards {
		marks = append(marks, mark{Dir: g.dir, Name: g.name, Place: g.place, Links: g.links, Folder: g})
	}
	for _, k := range all.kept {
		m := mark{Dir: k.dir, Name: k.name, Place: k.place, Links: k.links, Folder: guardedFolder{Absent: true}, Saved: k.content, Fields: k.fields}
		// A mount goes where another program, such as the user's git, writes the file anew: then the next command needs it.
		// A link is never covered by one.
		m.Stays = k.fields != nil || mounted && len(k.content) > 0 && k.content[k.name].Mode.Type() != fs.ModeSymlink
		marks = append(marks, m)
	}
	if len(marks) == 0 {
		return nil, nil
	}
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(marks)
	return text.Bytes(), err
}

func decodeMarks(text []byte) (marks []mark) {
	if gob.NewDecoder(bytes.NewReader(text)).Decode(&marks) != nil {
		return nil // it was cut off before any program ran
	}
	return marks
}

// Named returns what the command of a mark may not change in the folders of f.Write.
func (f Files) Named(text []byte) (readOnly []string, guards []Guard) {
	f.places = placesOf(f.Write)
	for _, m := range decodeMarks(text) {
		path, lies := f.pathOf(m.Place)
		switch {
		case !lies, m.Fields != nil:
		case m.isGuard():
			guards = append(guards, Guard{path, m.Folder.Changeable})
		default:
			readOnly = append(readOnly, path)
		}
	}
	return readOnly, guards
}

// Folders returns the folders that the command of a mark writes to and may not change all of.
func Folders(text []byte) (dirs []string) {
	for _, m := range decodeMarks(text) {
		if m.Fields == nil { // else it may write to the file alone, and not to its folder: the user's home
			dirs = append(dirs, placeOf(m.Dir))
		}
	}
	return dirs
}

func (f Files) pathOf(place string) (path string, lies bool) {
	for i, folder := range f.places {
		if way, err := filepath.Rel(folder, place); err == nil && filepath.IsLocal(way) && way != "." {
			return filepath.Join(f.Write[i], way), true
		}
	}
	return "", false
}

func (m mark) isGuard() bool { return !m.Folder.Absent }

// records are the marks of other commands.
type records map[record]mark

type record struct {
	path              string
	isGuard, onlyName bool
}

// addWay adds what is on the way to m and was no link: a link there is not the user's.
func (r records) addWay(m mark) {
	place := placeOf(m.Dir)
	for at := range (keptPath{links: m.Links}).way(m.Name) {
		name := record{filepath.Join(place, at), true, true}
		_, wasLink := m.Links[at]
		if _, known := r[name]; !known && !wasLink {
			r[name] = mark{Dir: m.Dir, Links: m.Links}
		}
	}
}

// savedAt returns k as it was before the program of another command could change it.
func (r records) savedAt(k keptPath) (keptPath, bool) {
	m, is := r[record{path: k.place}]
	if is {
		k.content = moved(m.Saved, m.Name, k.name)
		k.links = m.linksFor(k)
	}
	return k, is
}

// guardAt is savedAt for a guarded folder.
func (r records) guardAt(g guardedFolder) (guardedFolder, bool) {
	m, is := r[record{g.place, true, g.onlyName()}]
	if is {
		g.NotAFolder, g.Known, g.Odd = m.Folder.NotAFolder, m.Folder.Known, moved(m.Folder.Odd, m.Name, g.name)
		g.links = m.linksFor(g.keptPath)
	}
	return g, is
}

// contradict reports that another command found no link where k found one, or a folder whose name is guarded where k found
// none.
func (r records) contradict(k keptPath) bool {
	m, is := r[record{k.place, true, true}]
	mode := k.content[k.name].Mode
	return is && (mode.Type() == fs.ModeSymlink || m.Folder.onlyName() && !mode.IsDir())
}

// order is more for what another command kept: that is the user's, where what is kept as it stands now contradicts it.
func (r records) order(k keptPath) int {
	if _, is := r[record{path: k.place}]; is {
		return 1
	}
	return 0
}

func (m mark) linksFor(k keptPath) map[string]string {
	if m.Dir == k.dir {
		return m.Links
	}
	return k.links
}

// moved returns what is known of paths below a name by another name.
func moved[V any](all map[string]V, from, to string) map[string]V {
	found := map[string]V{}
	for name, value := range all {
		found[to+strings.TrimPrefix(name, from)] = value
	}
	return found
}

// Recover moves aside what was added since Mark got a text, and puts back what is missing, or all if that was tried and
// failed: then what differs may be the command's, and nothing may trust it.
func Recover(text []byte, failedBefore bool) (moved, restored []string, err error) {
	for _, m := range decodeMarks(text) { // guarded folders come first: what is kept may lie in one
		untrusted.OpenToOwner(m.Dir)
		k, failed := openKept(m.Dir, m.Name)
		one := Kept{unmark: noMark}
		switch k.links = m.Links; {
		case errors.Is(failed, fs.ErrNotExist): // the project is gone
			failed = nil
		case failed != nil:
		case failedBefore && m.isWhole():
			k.content, k.fields, k.room = m.Saved, m.Fields, maxKept
			one.kept = []keptPath{k}
			failed = one.PutBack(func(names []string) { restored = append(restored, names...) })
		case len(m.Saved) > 0 || m.Stays:
			var added []string
			k.content = m.Saved
			k.reach()
			cleared, first := k.clearWay(setAside) // else what is missing would seem to be there
			if !m.Stays {
				added, failed = k.setAsideAdded()
			}
			missing, again := k.restoreMissing()
			moved, restored, failed = slices.Concat(moved, cleared, added), append(restored, missing...), errors.Join(first, failed, again, k.root.Close())
		default:
			m.Folder.keptPath = k
			one.guards = []guardedFolder{m.Folder}
			failed = one.PutBack(func(names []string) { moved = append(moved, names...) })
		}
		err = errors.Join(err, failed)
	}
	return moved, restored, err
}

// isWhole reports whether all that was kept can be put back.
func (m mark) isWhole() bool {
	for _, n := range m.Saved {
		if n.WhyUnread != "" {
			return false
		}
	}
	return len(m.Saved) > 0 || m.Fields != nil
}

// restoreMissing puts back what a full disk prevented, or what was removed before a kill.
func (k keptPath) restoreMissing() (restored []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(k.content)) {
		n := k.content[name]
		k.name = name
		k.reach()
		_, failed := k.root.Lstat(name)
		if n.WhyUnread != "" || !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, syscall.ENOTDIR) {
			continue
		}
		if _, failed = k.clearWay(setAside); failed == nil {
			failed = k.restore(name, n)
		}
		if err = cmp.Or(err, failed); failed == nil && len(restored) < maxTold {
			restored = append(restored, path.Join(k.dir, name))
		}
	}
	return restored, err
}

// setAsideAdded moves aside what stands in a folder and did not before, or not as such: a link leads elsewhere. Changed
// files stay: they may be the user's.
func (k keptPath) setAsideAdded() (moved []string, err error) {
	failed := k.root.WalkAll(k.name, func(e untrusted.Entry, missing error) error {
		to := k.leadsTo(e.Path)
		switch was, stood := k.content[e.Path]; {
		case was.WhyUnread != "":
			return fs.SkipDir
		case missing != nil:
			return nil //nolint:nilerr // nothing was added there
		case stood && was.Mode.Type() == e.Info.Mode().Type() && (to == "" || to == string(was.Text)):
			openUnreadable(e, "") // what was added lies in it
			return nil
		}
		if strings.HasPrefix(path.Base(e.Path), unfinished) && e.In.Remove(e.Name) == nil { // of a ralph that was killed
			return nil
		}
		if len(moved) < maxTold {
			moved = append(moved, path.Join(k.dir, e.Path))
		}
		err = errors.Join(err, setAside(e.In, e.Name))
		return fs.SkipDir
	})
	return moved, errors.Join(err, failed)
}
