package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Changed is a file in which two trees differ, with its content on both sides;
// nil where it is not there. Links and other repositories are left out. What is
// larger than anyone wants to read is there, and empty, and said to be unread.
type Changed struct {
	Path          string
	Before, After []byte
	Unread        bool // a side of it
}

const (
	maxBlob  = 1 << 20
	maxBlobs = 64 << 20
)

// Changes are the files in which two commits or trees differ.
func (t *Trusted) Changes(ctx context.Context, span Span) ([]Changed, error) {
	return blobs(ctx, t.once, span)
}

// Changes are the files in which two commits or trees of a user's repository
// differ.
func (g Git) Changes(ctx context.Context, dir string, span Span) ([]Changed, error) {
	return blobs(ctx, user{git: g, dir: dir}.do, span)
}

func blobs(ctx context.Context, do doing, span Span) ([]Changed, error) {
	if err := checkSHA(span.From, span.To); err != nil {
		return nil, err
	}
	changes, err := compare(ctx, do, span)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", span.From, span.To, err)
	}
	var ids []string
	for _, c := range changes {
		for _, id := range []string{regular(c.was, c.old), regular(c.mode, c.blob)} {
			if id != "" {
				ids = append(ids, id)
			}
		}
	}
	texts, large, err := readBlobs(ctx, do, ids)
	if err != nil {
		return nil, err
	}
	var found []Changed
	for _, c := range changes {
		before, after := regular(c.was, c.old), regular(c.mode, c.blob)
		if before != after {
			found = append(found, Changed{c.path, texts[before], texts[after], large[before] || large[after]})
		}
	}
	return found, nil
}

// regular is the object of a regular file, else nothing.
func regular(mode, id string) string {
	if mode == modeFile || mode == modeProgram {
		return id
	}
	return ""
}

// readBlobs reads what is small enough; the rest is large, and empty.
func readBlobs(ctx context.Context, do doing, ids []string) (texts map[string][]byte, large map[string]bool, err error) {
	texts, large = map[string][]byte{}, map[string]bool{}
	if len(ids) == 0 {
		return texts, large, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	out, err := do(ctx, call{args: []string{"cat-file", "--batch-check=%(objectname) %(objectsize)"}, stdin: asked(ids)})
	if err != nil {
		return nil, nil, fmt.Errorf("measure files: %w", err)
	}
	var small []string
	total := int64(0)
	for line := range strings.Lines(string(out)) {
		id, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("measure files: %.64s is not there", tidy(id, 64)), ErrNotFound)
		}
		texts[id] = []byte{}
		if large[id] = n > maxBlob || total+n > maxBlobs; !large[id] {
			total += n
			small = append(small, id)
		}
	}
	return texts, large, fillBlobs(ctx, do, small, texts)
}

func fillBlobs(ctx context.Context, do doing, ids []string, texts map[string][]byte) error {
	if len(ids) == 0 {
		return nil
	}
	out, err := do(ctx, call{args: []string{"cat-file", "--batch=%(objectname) %(objectsize)"}, stdin: asked(ids), limit: 2 * maxBlobs})
	if err != nil {
		return fmt.Errorf("read files: %w", err)
	}
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte{'\n'})
		id, size, _ := strings.Cut(string(head), " ")
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n >= len(rest) {
			return fmt.Errorf("read files: %w", errOddAnswer)
		}
		texts[id] = rest[:n:n]
		out = rest[n+1:]
	}
	return nil
}

// asked are objects as cat-file is asked for them.
func asked(ids []string) *strings.Reader { return strings.NewReader(strings.Join(ids, "\n") + "\n") }
