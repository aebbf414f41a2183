package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// The modes of an entry in a tree.
const (
	ModeNone    = "000000"
	ModeFile    = "100644"
	ModeProgram = "100755"
	ModeSymlink = "120000"
	ModeLink    = "160000" // a commit of another repository
)

// Change is a path in which two trees differ.
type Change struct {
	Path    string
	OldMode string // mode before
	Mode    string // mode now
	OldID   string // object before
	ID      string // object now
}

var rawForm = pattern.Of(`^:([0-7]{6}) ([0-7]{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]\d*$`)

// Compare lists every path in which two trees differ, or those of some pathspecs, within reason: a tree of
// a few objects can have more paths than there are atoms.
func Compare(ctx context.Context, do Runner, span Span, paths ...string) ([]Change, error) {
	out, err := do(ctx, Call{Args: append([]string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev", "--ignore-submodules=none", span.From, span.To, "--",
	}, paths...)})
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// parseRaw reads raw -z: ":mode mode object object letter", zero, path, zero.
func parseRaw(out []byte) ([]Change, error) {
	var changes []Change
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		m := rawForm.FindStringSubmatch(fields[i])
		if m == nil {
			return nil, fmt.Errorf("read a comparison: %w", errOddAnswer)
		}
		changes = append(changes, Change{Path: fields[i+1], OldMode: m[1], Mode: m[2], OldID: m[3], ID: m[4]})
	}
	return changes, nil
}
