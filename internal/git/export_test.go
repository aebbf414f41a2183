package git

import (
	"context"
	"fmt"
)

// Differ is how a hand-over compares two trees, a line for each change; false
// where it has git do so.
func (t *Trusted) Differ(ctx context.Context, span Span) (lines []string, told bool, err error) {
	q, err := t.quarantine(Terms{}.filled())
	if err != nil {
		return nil, false, err
	}
	defer q.remove()
	defer func() { q.store.close() }()
	changes, told := q.differ(ctx, span)
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf(":%s %s %s %s %s", c.was, c.mode, c.old, c.blob, c.path))
	}
	return lines, told, nil
}
