package process_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/ralph-loop/ralph/internal/process"
)

// A program that has written its output does not wait for it to be taken, up to a limit.
func TestOutputIsReadAhead(t *testing.T) {
	line := append(bytes.Repeat([]byte("x"), 99), '\n')
	failed := errors.New("failed")
	for lines, waits := range map[int]bool{10_000: false, 30_000: true} {
		r, w := io.Pipe()
		taken := process.ReadAhead(r)
		wrote := make(chan error, 1)
		write := func() {
			var err error
			for range lines {
				_, more := w.Write(line)
				err = errors.Join(err, more)
			}
			wrote <- errors.Join(err, w.CloseWithError(failed))
		}
		if waits {
			go write()
		} else {
			write()
		}
		text, err := io.ReadAll(taken)
		if !errors.Is(err, failed) || !bytes.Equal(text, bytes.Repeat(line, lines)) {
			t.Errorf("%d lines: %d bytes are taken: %v", lines, len(text), err)
		}
		if err := <-wrote; err != nil {
			t.Error(err)
		}
	}
}
