package git

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/process"
)

// maxHistory bounds what git lists: as many names of objects as go into the
// largest pack.
const maxHistory = 256 << 20

// walk goes through all that is new up to the tip, every object of it, so that
// none can be missing, and gives its commits, parents first.
func (q *quarantine) walk(ctx context.Context, tip string) (ids []string, err error) {
	lines := &process.Lines{Max: maxCommit, Each: func(line []byte, _ bool) {
		if id, is := strings.CutPrefix(string(line), "commit "); is {
			ids = append(ids, id)
		}
	}}
	_, err = q.do(ctx, call{
		args: []string{
			"rev-list", "--objects", "--no-object-names", "--topo-order", "--reverse", "--format=", tip, "--not", q.terms.Base, q.terms.Last,
		},
		stdout: lines, limit: maxHistory,
	})
	if err = errors.Join(err, lines.Close()); err != nil {
		return nil, q.astray(ctx, tip, err)
	}
	if !slices.Contains(ids, tip) {
		err = q.isCommit(ctx, tip)
	}
	return ids, errors.Join(err, checkSHA(ids...))
}

// astray says what is wrong with a tip from which there is no way back.
func (q *quarantine) astray(ctx context.Context, tip string, err error) error {
	if _, ok := answered(err); ok {
		if why := q.isCommit(ctx, tip); why != nil {
			return why
		}
	}
	return blame(err, "its history is not whole")
}

func (q *quarantine) isCommit(ctx context.Context, tip string) error {
	kind, err := q.ask(ctx, "cat-file", "-t", tip)
	switch {
	case err != nil:
		return blame(err, "its HEAD did not come over")
	case kind != "commit":
		return refuse("its HEAD is no commit")
	}
	return nil
}
