package git

import (
	"context"
	"io"
)

// secret tells whether text holds what nobody may see.
func (q *quarantine) secret(text string) bool {
	return q.terms.Secret != nil && q.terms.Secret([]byte(text))
}

// telling are those objects that hold a secret. What is too large is refused
// anyway.
func (q *quarantine) telling(ctx context.Context, sizes map[string]int64) (map[string]bool, error) {
	if q.terms.Secret == nil {
		return nil, nil
	}
	var ids []string
	for id, size := range sizes {
		if size <= q.terms.MaxFile {
			ids = append(ids, id)
		}
	}
	s, found := q.opened(ctx), map[string]bool{}
	err := s.ask("contents", ids, func(id string, size int64) error {
		text := make([]byte, size+1) // with the newline behind it
		if _, err := io.ReadFull(s.lines, text); err != nil {
			return err
		}
		found[id] = q.terms.Secret(text)
		return nil
	})
	return found, err
}
