package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// base is what is known of the commit that a tree stands at. A commit never
// changes, so that is asked once.
type base struct {
	at     string // the name it was asked by
	commit string
	tree   string
	made   commit            // as it stands; what is odd about it is for git to say
	top    listing           // of tree
	less   map[string]string // trees without some paths, by those
}

// standsAt is the base that a name stands for, which is an object's.
func (t *Tree) standsAt(ctx context.Context, at string) (*base, error) {
	if t.base != nil && t.base.at == at {
		return t.base, nil
	}
	if checkSHA(at) != nil { // there is no commit yet, or a git that lies
		_, err := t.Head(ctx)
		if err == nil {
			err = fmt.Errorf("read the tree's HEAD: %w", errOddAnswer)
		}
		return nil, err
	}
	b, ok := t.looseBase(at)
	if !ok {
		var err error
		if b, err = t.storedBase(ctx, at); err != nil {
			return nil, err
		}
	}
	t.base = b
	return b, nil
}

// storedBase is the base as git gives it, wherever it lies.
func (t *Tree) storedBase(ctx context.Context, at string) (*base, error) {
	out, err := t.do(ctx, call{
		args:  []string{"cat-file", "--batch-command"},
		stdin: strings.NewReader("contents " + at + "^{commit}\ncontents " + at + "^{tree}\n"),
		limit: 64 << 20,
	})
	if err != nil {
		return nil, fmt.Errorf("read the tree's HEAD: %w", err)
	}
	commit, made, rest := told(out, "commit")
	tree, top, _ := told(rest, "tree")
	b := &base{at: at, commit: commit, tree: tree, less: map[string]string{}}
	if checkSHA(b.commit, b.tree) != nil {
		head, _, _ := bytes.Cut(rest, []byte{'\n'})
		return nil, &Error{Command: "cat-file", Said: "its HEAD is not whole: " + tidy(string(head), 200)}
	}
	if c, err := parseCommit(commit, string(made)); err == nil {
		b.made = c
	}
	b.top, err = readListing(top, len(at)/2)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// told is the first object that cat-file tells of, as "name kind size" and what
// it holds, and what it tells besides; no name where it is another kind.
func told(out []byte, kind string) (name string, content, rest []byte) {
	head, after, _ := bytes.Cut(out, []byte{'\n'})
	fields := strings.Fields(string(head))
	if len(fields) != 3 || fields[1] != kind {
		return "", nil, out
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size >= len(after) {
		return "", nil, out
	}
	return fields[0], after[:size], after[size+1:]
}

// Step is the one commit that stands between last and what a tree stands at, as
// Log would tell of it; false where there is none, or more.
func (s *Sight) Step(last string) (journal.Commit, bool) {
	subject, plain := s.base.made.plainSubject()
	if !plain || !slices.Equal(s.base.made.parents, []string{last}) {
		return journal.Commit{}, false
	}
	return journal.Commit{SHA: s.Head, Subject: tidy(subject, 200)}, true
}

// plainSubject is what a commit is about, where that is its first line and in no
// other encoding.
func (c commit) plainSubject() (string, bool) {
	first, rest, _ := strings.Cut(c.message, "\n")
	return first, len(c.lines) == 2 && strings.TrimSpace(first) != "" && (rest == "" || rest[0] == '\n')
}

// holds tells whether one of the paths, or a folder above it, is in the tree.
func (b *base) holds(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return b.top.find(first(path)) != nil })
}

// first is the first name of a path.
func first(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return name
}

// without is the tree without some paths; false where they do not all lie at
// its top.
func (t *Tree) without(ctx context.Context, b *base, paths []string) (string, bool) {
	if !b.holds(paths) {
		return b.tree, true
	}
	key := strings.Join(paths, "\x00")
	if tree, known := b.less[key]; known {
		return tree, true
	}
	left, ok := b.top.drop(paths)
	if !ok {
		return "", false
	}
	tree, err := t.writeTree(ctx, left)
	if err != nil {
		return "", false
	}
	b.less[key] = tree
	return tree, true
}

// writeTree puts a listing among the tree's objects.
func (t *Tree) writeTree(ctx context.Context, l listing) (string, error) {
	return object(t.do(ctx, call{args: []string{"hash-object", "-t", "tree", "-w", "--stdin"}, stdin: bytes.NewReader(l.raw())}))
}

// listing is what a tree object holds, as it stands there.
type listing []listed

type listed struct {
	mode string
	name string
	id   []byte
}

// readListing reads a tree object: mode, space, name, zero, bytes of a name.
func readListing(raw []byte, size int) (listing, error) {
	var l listing
	for len(raw) > 0 {
		head, rest, found := bytes.Cut(raw, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		if !found || !spaced || name == "" || len(rest) < size {
			return nil, fmt.Errorf("read a tree: %w", errOddAnswer)
		}
		l = append(l, listed{mode, name, rest[:size]})
		raw = rest[size:]
	}
	return l, nil
}

func (l listing) raw() []byte {
	var b bytes.Buffer
	for _, e := range l {
		b.WriteString(e.mode + " " + e.name + "\x00")
		b.Write(e.id)
	}
	return b.Bytes()
}

func (l listing) find(name string) *listed {
	for i := range l {
		if l[i].name == name {
			return &l[i]
		}
	}
	return nil
}

// drop is the listing without some paths; false where one lies deeper.
func (l listing) drop(paths []string) (listing, bool) {
	for _, path := range paths {
		if strings.Contains(path, "/") && l.find(first(path)) != nil {
			return nil, false
		}
	}
	return slices.DeleteFunc(slices.Clone(l), func(e listed) bool { return slices.Contains(paths, e.name) }), true
}

// with is the listing with some names as another has them. Git sorts folders as
// if a slash followed.
func (l listing) with(other listing, names []string) listing {
	now := slices.DeleteFunc(slices.Clone(l), func(e listed) bool { return slices.Contains(names, e.name) })
	for _, name := range names {
		if e := other.find(name); e != nil {
			now = append(now, *e)
		}
	}
	slices.SortFunc(now, func(a, b listed) int { return strings.Compare(a.sorted(), b.sorted()) })
	return now
}

func (e listed) sorted() string {
	if mode, err := strconv.ParseUint(e.mode, 8, 32); err == nil && mode == 0o40000 {
		return e.name + "/"
	}
	return e.name
}
