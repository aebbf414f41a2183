package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// What two trees may come to that are compared without a git of its own, besides
// maxQueue. Of more than that, and of whatever is odd about one, git tells.
const (
	mostFolders = 1000
	maxPath     = 4 << 10
)

// asTree asks for a tree, be it by the name of a commit, and for nothing else.
const asTree = "^{tree}"

// folder is one that differs in two trees; no name where one of them has none.
type folder struct{ path, old, now string }

// differ is what compare says, by the git that answers for objects: a hand-over of
// many commits would else start as many more. False where that one cannot tell.
func (q *quarantine) differ(ctx context.Context, span Span) ([]change, bool) {
	changes, folders, left := []change{}, 0, int64(maxQueue)
	for level := []folder{{"", span.From, span.To}}; len(level) > 0; {
		if folders += len(level); folders > mostFolders {
			return nil, false
		}
		read, ok := q.listings(ctx, level, &left)
		if !ok {
			return nil, false
		}
		var deeper []folder
		for _, f := range level {
			files, below := f.between(read[f.old], read[f.now], strings.Repeat("0", len(span.From)))
			changes, deeper = append(changes, files...), append(deeper, below...)
		}
		level = deeper
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.path, b.path) })
	return changes, true
}

// listings reads what lies in folders, by their names in both trees.
func (q *quarantine) listings(ctx context.Context, level []folder, left *int64) (map[string]map[string]listed, bool) {
	var ids []string
	for _, f := range level {
		if len(f.path) > maxPath {
			return nil, false
		}
		ids = append(ids, f.old, f.now)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
	questions := make([]string, len(ids))
	for i, id := range ids {
		questions[i] = id + asTree
	}
	texts, err := q.contents(ctx, questions, *left)
	if err != nil {
		q.store.close() // it has lost its thread
		q.store = nil
		return nil, false
	}
	read := map[string]map[string]listed{}
	for i, id := range ids {
		text := texts[questions[i]]
		all, sound := readSound(text, len(id)/2)
		if !sound {
			return nil, false
		}
		read[id] = all
		*left -= int64(len(text))
	}
	return read, true
}

// readSound reads a tree in which nothing is odd, by the names in it.
func readSound(text string, size int) (map[string]listed, bool) {
	all, err := readListing([]byte(text), size)
	if err != nil {
		return nil, false
	}
	byName := make(map[string]listed, len(all))
	for _, e := range all {
		if !slices.Contains([]string{modeFolder, modeFile, modeProgram, modeSymlink, modeLink}, e.mode) || strings.Contains(e.name, "/") {
			return nil, false
		}
		byName[e.name] = e
	}
	return byName, len(byName) == len(all)
}

// between are the files that differ in a folder itself, and the folders in it
// that do.
func (f folder) between(old, now map[string]listed, none string) (files []change, below []folder) {
	names := maps.Clone(old)
	if names == nil {
		names = map[string]listed{}
	}
	maps.Copy(names, now)
	for name := range names {
		was, is := old[name], now[name]
		if was.mode == is.mode && bytes.Equal(was.id, is.id) {
			continue
		}
		at := strings.TrimPrefix(f.path+"/"+name, "/")
		c := change{path: at}
		c.was, c.old = was.file(none)
		c.mode, c.blob = is.file(none)
		if c.was != c.mode || c.old != c.blob {
			files = append(files, c)
		}
		if was.mode == modeFolder || is.mode == modeFolder {
			below = append(below, folder{at, was.folder(), is.folder()})
		}
	}
	return files, below
}

// file is the mode and the object of what is no folder.
func (e listed) file(none string) (mode, id string) {
	if e.mode == "" || e.mode == modeFolder {
		return modeNone, none
	}
	return e.mode, hex.EncodeToString(e.id)
}

// folder is the tree of a folder.
func (e listed) folder() string {
	if e.mode != modeFolder {
		return ""
	}
	return hex.EncodeToString(e.id)
}
