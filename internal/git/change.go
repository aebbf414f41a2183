package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// The modes of an entry in a tree.
const (
	modeNone    = "000000"
	modeFile    = "100644"
	modeProgram = "100755"
	modeSymlink = "120000"
	modeLink    = "160000" // a commit of another repository
)

// change is a path in which two trees differ.
type change struct {
	path string
	was  string // mode before
	mode string // mode now
	old  string // object before
	blob string // object now
}

var rawForm = pattern.Of(`^:([0-7]{6}) ([0-7]{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]\d*$`)

// compare lists every path in which two trees differ, or those of some pathspecs, within reason: a tree of
// a few objects can have more paths than there are atoms.
func compare(ctx context.Context, do doing, span Span, paths ...string) ([]change, error) {
	out, err := do(ctx, call{args: append([]string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev", "--ignore-submodules=none", span.From, span.To, "--",
	}, paths...)})
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// parseRaw reads raw -z: ":mode mode object object letter", zero, path, zero.
func parseRaw(out []byte) ([]change, error) {
	var changes []change
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		m := rawForm.FindStringSubmatch(fields[i])
		if m == nil {
			return nil, fmt.Errorf("read a comparison: %w", errOddAnswer)
		}
		changes = append(changes, change{path: fields[i+1], was: m[1], mode: m[2], old: m[3], blob: m[4]})
	}
	return changes, nil
}
