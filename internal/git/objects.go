package git

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// store answers for objects through one git that stays: starting one takes
// longer than most answers. Whoever opened it closes it.
type store struct {
	questions *io.PipeWriter
	answers   *io.PipeReader
	lines     *bufio.Reader
	ended     chan struct{}
}

// maxAnswers bounds all that a store says: sizes, messages, targets of links.
const maxAnswers = 256 << 20

// opened is the store, asked for the first time or again.
func (q *quarantine) opened(ctx context.Context) *store {
	if q.store != nil {
		return q.store
	}
	asked, questions := io.Pipe()
	answers, said := io.Pipe()
	s := &store{questions: questions, answers: answers, lines: bufio.NewReader(answers), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		_, err := q.do(ctx, call{
			args:  []string{"cat-file", "--batch-command"},
			stdin: asked, stdout: said, limit: maxAnswers, timeout: 10 * q.terms.Timeout,
		})
		_ = said.CloseWithError(cmp.Or(err, io.EOF))
		_ = asked.Close()
	}()
	q.store = s
	return s
}

// close ends it. There may be none.
func (s *store) close() {
	if s == nil {
		return
	}
	_ = s.questions.Close()
	_ = s.answers.Close()
	<-s.ended
}

// ask asks the same of every object, and has each answer read in turn.
func (s *store) ask(what string, ids []string, read func(id string, size int64) error) error {
	sent := make(chan struct{})
	go func() { // so that it may answer meanwhile
		defer close(sent)
		for _, id := range ids {
			if _, err := io.WriteString(s.questions, what+" "+id+"\n"); err != nil {
				return // the answer will say why
			}
		}
	}()
	err := s.hear(ids, read)
	if err != nil {
		_ = s.answers.Close() // it is of no use any more
	}
	<-sent
	return err
}

func (s *store) hear(ids []string, read func(id string, size int64) error) error {
	for _, id := range ids {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return err
		}
		fields := strings.Fields(line) // name kind size, or name missing
		if len(fields) != 3 {
			return refuse("an object is missing: %s", tidy(line, 64))
		}
		n, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || fields[0] != id || n < 0 {
			return errOddAnswer
		}
		if err := read(id, n); err != nil {
			return err
		}
	}
	return nil
}

// sizes asks for the size of each object, all of one kind or not.
func (q *quarantine) sizes(ctx context.Context, ids []string) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := q.opened(ctx).ask("info", ids, func(id string, size int64) error {
		sizes[id] = size
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("measure objects: %w", err)
	}
	return sizes, nil
}

// contents reads small objects, of so many bytes together at the most.
func (q *quarantine) contents(ctx context.Context, ids []string, limit int64) (map[string]string, error) {
	s, texts := q.opened(ctx), map[string]string{}
	err := s.ask("contents", ids, func(id string, size int64) error {
		if limit -= size; limit < 0 {
			return errOddAnswer
		}
		text := make([]byte, size+1) // with the newline behind it
		if _, err := io.ReadFull(s.lines, text); err != nil {
			return err
		}
		texts[id] = string(text[:size])
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	return texts, nil
}
