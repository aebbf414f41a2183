package putback

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// keptPath is what ReadOnly held before a program ran, to be put back. Where a
// mount keeps it from being written to there is nothing to put back; but what
// was not there cannot be mounted, and Landlock cannot take a folder out of
// another.
type keptPath struct {
	root    *untrusted.Root // the folder of Write; links that lead out of it are not followed
	dir     string
	name    string            // within root
	place   string            // of it, without the links on the way to dir
	links   map[string]string // on the way to it, with what they lead to: the user's
	content map[string]savedNode
	room    int64 // for the content

	fields []string // of a JSON file; nil: all of it
}

// savedNode exports what is written into a mark.
type savedNode struct {
	Mode      fs.FileMode
	Names     uint64 // git and agents write to some files in place, and so to this one if it is another name of them
	Text      []byte // of a file, or where a link leads
	WhyUnread string // of what is not saved: what no change leaves as it was
}

// Kept is all that is kept while a program runs.
type Kept struct {
	// Closed are the names in guarded folders that stand there and may not change, and what links among all of these
	// lead to.
	Closed []string

	// Folders may only not become a link: the way to what is kept leads through them and back.
	Folders []string

	kept     []keptPath
	guards   []guardedFolder
	reserved []*os.File // descriptors and room on disks, given up to put things back
	unmark   func(all bool) error
}

// Keep looks at all that may not change.
func (f Files) Keep() (all Kept, err error) {
	if all.unmark = noMark; len(f.ReadOnly)+len(f.Fields)+len(f.Guards) == 0 {
		return all, nil
	}
	f.places = placesOf(f.Write)
	others, mark, err := f.begin()
	if err != nil {
		return all, err
	}
	text, err := all.take(f, others)
	unmark, failed := mark(text)
	if failed == nil {
		all.unmark = unmark
	}
	if err = errors.Join(err, failed); err != nil {
		err = errors.Join(err, all.Close())
	}
	return all, err
}

// take returns the text of a mark; none if it fails.
func (all *Kept) take(f Files, others records) (_ []byte, err error) {
	guards, left := budget(maxAll), budget(maxAll)
	for _, one := range f.Guards {
		if err := all.guard(f, one, others, &guards); err != nil {
			return nil, err
		}
	}
	if err := f.addLinked(all); err != nil {
		return nil, err
	}
	for _, file := range slices.Concat(f.ReadOnly, all.Closed) {
		switch k, err := f.keep(file, others, &left); {
		case err != nil:
			return nil, unkept(file, err)
		case others.contradict(k):
			all.Folders = append(all.Folders, file)
			defer k.root.Close() //nolint:errcheck // only a handle
		default:
			all.kept = append(all.kept, k)
		}
	}
	slices.SortStableFunc(all.kept, func(a, b keptPath) int { return cmp.Compare(others.order(a), others.order(b)) })
	for _, dir := range all.Folders {
		if err := all.guard(f, Guard{dir, []string{"."}}, others, &guards); err != nil {
			return nil, err
		}
	}
	for file, fields := range f.Fields {
		k, err := f.keepFields(file, fields, others, &left)
		if err != nil {
			return nil, unkept(file, err)
		}
		all.kept = append(all.kept, k)
	}
	if err := all.reserve(); err != nil {
		return nil, err
	}
	return all.mark(f.Mounted)
}

func (all *Kept) guard(f Files, one Guard, others records, left *budget) error {
	g, err := f.guard(one, others, left)
	if err != nil {
		return unkept(one.Dir, err)
	}
	all.guards, all.Closed = append(all.guards, g), append(all.Closed, g.fixedPaths(one.Dir)...)
	return nil
}

func unkept(name string, err error) error {
	return fault.Usage("cannot keep "+name+" as it is", "make it readable, and smaller if it has too many or too large files", err)
}

func (f Files) keep(file string, others records, left *budget) (keptPath, error) {
	if slices.Contains(f.Write, file) {
		return keptPath{}, errors.New("all of it can be written to")
	}
	k, err := f.inWriteFolder(file)
	if err != nil {
		return keptPath{}, err
	}
	return k.withContent(others, left)
}

func (k keptPath) withContent(others records, left *budget) (keptPath, error) {
	var err error
	k.room = left.room()
	if k, is := others.savedAt(k); is {
		return k, nil
	}
	if k.content, err = k.readContent(); err != nil {
		return keptPath{}, errors.Join(err, k.root.Close())
	}
	for _, n := range k.content {
		left.take(len(n.Text))
	}
	return k, nil
}

func (k keptPath) readContent() (map[string]savedNode, error) {
	found, room, left := map[string]savedNode{}, k.room, int64(maxCompared)
	err := k.root.WalkAll(k.name, func(e untrusted.Entry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil
		case err != nil && !errors.Is(err, fs.ErrPermission):
			return err
		case e.Info == nil: // of another user, or PutBack fails
			found[e.Path] = savedNode{Mode: fs.ModeIrregular, WhyUnread: err.Error()}
			return nil
		}
		compared := &left
		if k.content != nil && k.content[e.Path].WhyUnread == "" { // it is new, or was small
			compared = new(int64)
		}
		n, read := readUpTo(room, e, err, compared)
		found[e.Path] = n
		if room -= int64(len(e.Path) + len(n.Text)); room < -maxKept {
			return errors.New("there is too much to be kept")
		}
		return read
	})
	return found, err
}

// PutBack makes all of it what it was, and tells what was not.
func (all Kept) PutBack(tell func([]string)) error {
	var mended []string
	errs := []error{all.release()}
	take := func(place string, list []string, err error) {
		fix := "inspect it before you run git there: git may run what the agent wrote"
		if IsFull(err) {
			fix = "free some space and inodes on its disk, then run: ralph sandbox -- true; it tries again"
		}
		if err != nil {
			errs = append(errs, fault.Usage(place+" could not be put back", fix, errors.Join(ErrNotPutBack, err)))
			return
		}
		mended = append(mended, list...)
	}
	for _, g := range all.guards { // first: what is kept may lie in one
		list, err := g.mend()
		if errors.Is(err, fs.ErrPermission) {
			g.open()
			again, failed := g.mend()
			list, err = append(list, again...), failed
		}
		take(path.Join(g.dir, g.name), list, err)
	}
	for _, k := range all.kept {
		k.reach()
		list, err := k.mend()
		if errors.Is(err, fs.ErrPermission) {
			k.open()
			list, err = k.mend()
		}
		take(path.Join(k.dir, k.name), list, err)
	}
	if len(mended) > 0 && tell != nil {
		tell(mended)
	}
	err := errors.Join(append(errs, all.close())...)
	return errors.Join(err, all.unmark(err == nil))
}

func (k keptPath) mend() ([]string, error) {
	now, err := k.readContent()
	if err != nil || len(k.content) > 0 && k.isElsewhere() { // it cannot even be read, or a new link leads to it
		now = map[string]savedNode{k.name: {Mode: fs.ModeIrregular}}
	}
	if k.fields != nil {
		return k.mendFields(now)
	}
	return k.mendWhole(now)
}

// mendWhole restores from the top down: one thing may be in the way of another.
func (k keptPath) mendWhole(now map[string]savedNode) ([]string, error) {
	changed := k.changed(now)
	if len(changed) == 0 {
		return nil, nil
	}
	for _, n := range k.content {
		if n.WhyUnread != "" {
			return changed, errors.New("it is too large to be put back, or not readable")
		}
	}
	cleared, err := k.clear()
	changed = append(cleared, changed...)
	switch {
	case errors.Is(err, syscall.EBUSY): // a mount point was only emptied
		err = k.refill(err)
	case err == nil:
		err = k.restoreAll()
	}
	return changed, err
}

func (k keptPath) changed(now map[string]savedNode) []string {
	var list []string
	for name, n := range now {
		if was, ok := k.content[name]; !ok || was.Mode != n.Mode || n.Names > was.Names || was.WhyUnread != n.WhyUnread || !bytes.Equal(was.Text, n.Text) {
			list = append(list, path.Join(k.dir, name))
		}
	}
	for name := range k.content {
		if _, ok := now[name]; !ok {
			list = append(list, path.Join(k.dir, name))
		}
	}
	slices.Sort(list)
	return list
}

// Close lets go of all that is kept, and puts nothing back.
func (all Kept) Close() error {
	return errors.Join(all.release(), all.close(), all.unmark(false))
}

func (all Kept) close() error {
	var errs []error
	for _, k := range all.kept {
		errs = append(errs, k.root.Close())
	}
	for _, g := range all.guards {
		errs = append(errs, g.root.Close())
	}
	return errors.Join(errs...)
}
