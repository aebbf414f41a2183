package check

import (
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// The end of a log is in memory until the output ends.
const (
	keptHead = 9 << 20
	keptTail = 1 << 20
)

// capped keeps the beginning and the end of an output.
type capped struct {
	to   io.Writer
	left int // of the beginning
	tail process.Tail
}

// Write keeps the parts of p that belong to the beginning or the end.
func (c *capped) Write(p []byte) (int, error) {
	head := min(len(p), c.left)
	c.left -= head
	if n, err := c.to.Write(p[:head]); err != nil {
		return n, err
	}
	n, err := c.tail.Write(p[head:])
	return head + n, err
}

// Close writes the end.
func (c *capped) Close() error {
	if cut := c.tail.Dropped(); cut > 0 {
		if _, err := fmt.Fprintf(c.to, "\n[ralph left out %d bytes here]\n", cut); err != nil {
			return err
		}
	}
	_, err := c.to.Write(c.tail.Bytes())
	return err
}
