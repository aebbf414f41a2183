package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// sizes asks for the size of each object, all of one kind or not.
func (q *quarantine) sizes(ctx context.Context, ids []string) (map[string]int64, error) {
	out, err := q.do(ctx, call{args: []string{"cat-file", "--batch-check=%(objectname) %(objectsize)"}, stdin: lines(ids)})
	if err != nil {
		return nil, fmt.Errorf("measure objects: %w", err)
	}
	sizes := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		id, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return nil, refuse("an object is missing: %s", tidy(id, 64))
		}
		sizes[id] = n
	}
	return sizes, nil
}

// contents reads small objects.
func (q *quarantine) contents(ctx context.Context, ids []string) (map[string]string, error) {
	out, err := q.do(ctx, call{args: []string{"cat-file", "--batch=%(objectname) %(objectsize)"}, stdin: lines(ids), limit: 64 << 20})
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	texts := map[string]string{}
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte{'\n'})
		id, size, _ := strings.Cut(string(head), " ")
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n >= len(rest) {
			return nil, fmt.Errorf("read objects: %w", errOddAnswer)
		}
		texts[id] = string(rest[:n])
		out = rest[n+1:]
	}
	return texts, nil
}

func lines(ids []string) *strings.Reader {
	return strings.NewReader(strings.Join(ids, "\n") + "\n")
}
