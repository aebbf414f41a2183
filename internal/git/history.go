package git

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
)

// history is what is new up to a tip: its commits, parents first, and what each
// is about.
type history struct {
	ids      []string
	subjects map[string]string
	objects  map[string]bool // the commits too; only the first maxKnown
	err      error           // the first line that makes no sense
}

// maxKnown is how many objects are remembered. Of more it is not known whether
// they are all that came in, and what came in is packed again.
const maxKnown = 10_000

// maxHistory bounds what git lists: as many names of objects as go into the
// largest pack.
const maxHistory = 256 << 20

// walk goes through all that is new, every object of it, so that none can be
// missing.
func (q *quarantine) walk(ctx context.Context, tip string) (*history, error) {
	h := &history{subjects: map[string]string{}, objects: map[string]bool{}}
	lines := &process.Lines{Max: maxCommit, Each: h.read}
	_, err := q.do(ctx, call{
		args: []string{
			"rev-list", "--objects", "--no-object-names", "--topo-order", "--reverse", "--format=> %s", tip, "--not", q.terms.Base, q.terms.Last,
		},
		stdout: lines, limit: maxHistory,
	})
	if err = errors.Join(err, lines.Close()); err != nil {
		return nil, q.astray(ctx, tip, err)
	}
	if h.err == nil && !slices.Contains(h.ids, tip) {
		h.err = q.isCommit(ctx, tip)
	}
	return h, h.err
}

// read takes a line: a commit's name, or what it is about, or an object.
func (h *history) read(text []byte, _ bool) {
	line := string(text)
	id, commit := strings.CutPrefix(line, "commit ")
	about, words := strings.CutPrefix(line, "> ")
	switch {
	case commit:
		if err := checkSHA(id); err != nil && h.err == nil {
			h.err = err
		}
		h.ids = append(h.ids, id)
		h.know(id)
	case words && len(h.ids) > 0:
		h.subjects[h.ids[len(h.ids)-1]] = about
	case !words:
		h.know(line)
	}
}

func (h *history) know(id string) {
	if len(h.objects) < maxKnown {
		h.objects[id] = true
	}
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

// log is what Log would say of commits that were taken over as they came, one
// upon the other; nil where they were not.
func (q *quarantine) log(commits []commit, tip string) []journal.Commit {
	parent := q.terms.Last
	log := make([]journal.Commit, 0, len(commits))
	for _, c := range commits {
		if len(c.parents) != 1 || c.parents[0] != parent {
			return nil
		}
		log = append(log, journal.Commit{SHA: c.id, Subject: tidy(c.subject, 200)})
		parent = c.id
	}
	if parent != tip || len(log) > maxLog {
		return nil
	}
	return log
}
