package git

import (
	"bytes"
	"compress/zlib"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// maxLoose bounds an object that is read without git, as it lies and unfolded.
const maxLoose = 4 << 20

// loose is an object that lies in a file of its own, as those do that were just
// made: to read it takes no process. False where it lies elsewhere; whatever is
// odd about it is for git to say.
func (t *Tree) loose(id, kind string) (content []byte, ok bool) {
	file, ok := readInside(filepath.Join(t.lair().common, "objects"), filepath.Join(id[:2], id[2:]), maxLoose)
	if !ok {
		return nil, false
	}
	unfolded, err := zlib.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(unfolded, maxLoose+1))
	head, content, _ := bytes.Cut(text, []byte{0})
	what, size, _ := strings.Cut(string(head), " ")
	return content, err == nil && what == kind && size == strconv.Itoa(len(content)) && len(text) <= maxLoose
}

// looseBase is the base whose commit and tree lie so.
func (t *Tree) looseBase(at string) (*base, bool) {
	text, ok := t.loose(at, "commit")
	if !ok {
		return nil, false
	}
	made, err := parseCommit(at, string(text))
	if err != nil {
		return nil, false
	}
	raw, ok := t.loose(made.tree, "tree")
	if !ok {
		return nil, false
	}
	top, err := readListing(raw, len(at)/2)
	return &base{at: at, commit: at, tree: made.tree, made: made, top: top, less: map[string]string{}}, err == nil
}
