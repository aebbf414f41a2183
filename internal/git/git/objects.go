package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Object is an object as git cat-file prints it.
type Object struct {
	ID      string
	Size    int64
	Content io.Reader
}

var errStopped = errors.New("the reader stopped")

// CatFile calls each for every object, in the order of ids.
func CatFile(ctx context.Context, do Runner, c Call, ids []string, each func(Object) error) error {
	if len(ids) == 0 {
		return nil
	}
	output, stdout := io.Pipe()
	c.Args = []string{"cat-file", "--buffer", "--batch"}
	c.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	c.Stdout = stdout
	c.Memory = MaxMemory
	ended := make(chan error, 1)
	go func() {
		_, err := do(ctx, c)
		_ = stdout.CloseWithError(err)
		ended <- err
	}()
	err := readObjects(bufio.NewReader(output), ids, each)
	_ = output.CloseWithError(errStopped)
	failed := <-ended
	if err != nil {
		return err
	}
	return failed
}

func readObjects(from *bufio.Reader, ids []string, each func(Object) error) error {
	for _, id := range ids {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		o, err := readHeader(id, line)
		if err != nil {
			return err
		}
		content := &io.LimitedReader{R: from, N: o.Size}
		o.Content = content
		if err := each(o); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, from, content.N+1); err != nil { // and the newline after it
			return err
		}
	}
	return nil
}

func readHeader(id, line string) (Object, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return Object{}, fmt.Errorf("%w: %s", errMissing, OneLine(line, 64))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || fields[0] != id || size < 0 {
		return Object{}, errOddAnswer
	}
	return Object{ID: id, Size: size}, nil
}

var errMissing = errors.New("an object is missing")

// IsBadOutput reports whether git printed something unexpected, or lacks an object.
func IsBadOutput(err error) bool {
	return errors.Is(err, errOddAnswer) || errors.Is(err, errNoID) || errors.Is(err, errMissing)
}

// Sizes returns the size of each object.
func Sizes(ctx context.Context, do Runner, ids []string) (map[string]int64, error) {
	out, err := do(ctx, Call{
		Args:   []string{"cat-file", "--batch-check"},
		Stdin:  strings.NewReader(strings.Join(ids, "\n") + "\n"),
		Limit:  256 << 20,
		Memory: MaxMemory,
	})
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	lines := strings.SplitAfter(string(out), "\n")
	for i, id := range ids {
		o, err := readHeader(id, lines[min(i, len(lines)-1)])
		if err != nil {
			return nil, err
		}
		sizes[id] = o.Size
	}
	return sizes, nil
}

// Modes of a tree entry.
const (
	ModeNone    = "000000"
	ModeFile    = "100644"
	ModeProgram = "100755"
	ModeSymlink = "120000"
	ModeGitlink = "160000" // a commit of another repository
)

// Change is a path that differs between two trees.
type Change struct {
	Path    string
	OldMode string // mode before
	Mode    string // mode now
	OldID   string // object before
	ID      string // object now
}

// Paths returns the paths of changes.
func Paths(changes []Change) []string {
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// Was reports whether the path is in the earlier tree.
func (c Change) Was() bool { return c.OldMode != ModeNone }

var rawForm = pattern.Of(`^:([0-7]{6}) ([0-7]{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]\d*$`)

// Compare lists the paths that differ between two trees. Its memory is limited: a small pack can hold a huge tree.
func Compare(ctx context.Context, do Runner, span Span, paths ...string) ([]Change, error) {
	args := []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev",
		"--ignore-submodules=none", span.From, span.To, "--",
	}
	out, err := do(ctx, Call{Args: append(args, paths...), Memory: MaxMemory})
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// parseRaw reads the output of --raw -z: ":mode mode id id letter", NUL, path, NUL.
func parseRaw(out []byte) ([]Change, error) {
	var changes []Change
	fields := strings.Split(string(out), "\x00")
	for i := 0; i < len(fields)-1 || fields[i] != ""; i += 2 {
		m := rawForm.FindStringSubmatch(fields[i])
		if m == nil || i+2 >= len(fields) || fields[i+1] == "" {
			return nil, fmt.Errorf("read a comparison: %w", errOddAnswer)
		}
		changes = append(changes, Change{Path: fields[i+1], OldMode: m[1], Mode: m[2], OldID: m[3], ID: m[4]})
	}
	return changes, nil
}

// TreeEntry is an object at a path of a tree. With ModeNone, the path is absent.
type TreeEntry struct{ Path, Mode, ID string }

// Index is the name of an index file, and the tree to fill it with.
type Index struct{ File, Tree string }

// WriteTree returns the tree of an index after changing some entries.
func WriteTree(ctx context.Context, do Runner, in Index, wanted []TreeEntry) (string, error) {
	on := func(args ...string) Call {
		return Call{Args: args, Env: []string{"GIT_INDEX_FILE=" + in.File}, Memory: MaxMemory}
	}
	if _, err := do(ctx, on("read-tree", in.Tree)); err != nil {
		return "", err
	}
	var lines strings.Builder
	for _, o := range wanted {
		fmt.Fprintf(&lines, "%s %s\t%s\x00", o.Mode, o.ID, o.Path)
	}
	update := on("update-index", "--replace", "-z", "--index-info")
	update.Stdin = strings.NewReader(lines.String())
	if _, err := do(ctx, update); err != nil {
		return "", err
	}
	return ObjectID(do(ctx, on("write-tree")))
}
