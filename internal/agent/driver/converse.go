package driver

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// errTurnOver is why a program that stays after its turn is stopped. It is no failure.
var errTurnOver = errors.New("its turn is over")

// exitPatience is how long a program has to end by itself after its turn.
const exitPatience = 2 * time.Second

// conversation writes the decoder's questions to the stdin of a program, until the turn is over.
type conversation struct {
	agent.Conversation
	mu       sync.Mutex
	changed  sync.Cond               // lines or closed
	lines    []byte                  // that the program has not read yet
	closed   bool                    // no more lines follow
	answered bool                    // the turn is over
	stop     context.CancelCauseFunc // ends the program
}

func converse(questions agent.Conversation, stop context.CancelCauseFunc) *conversation {
	c := &conversation{Conversation: questions, stop: stop}
	c.changed.L = &c.mu
	c.lines, _ = c.Questions()
	return c
}

// Line reads a line of the program. Its answer can lead to the next question.
func (c *conversation) Line(line []byte) []stream.Item {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := c.Conversation.Line(line)
	lines, over := c.Questions()
	c.lines = append(c.lines, lines...)
	if over && !c.answered {
		c.answered = true
		c.closed = true
		time.AfterFunc(exitPatience, func() { c.stop(errTurnOver) })
	}
	c.changed.Signal()
	return items
}

// cancel asks the program to end the turn.
func (c *conversation) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, c.Cancel()...)
	c.closed = true
	c.changed.Signal()
}

// Read returns questions, and io.EOF when the turn is over.
func (c *conversation) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.lines) == 0 && !c.closed {
		c.changed.Wait()
	}
	if len(c.lines) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.lines)
	c.lines = c.lines[n:]
	return n, nil
}

// run starts the program with the questions on its stdin. After the answer, how the program ends does not count.
func (c *conversation) run(
	ctx context.Context, cmd process.Command,
	run func(context.Context, process.Command) (process.Result, error),
) (process.Result, error) {
	stdin, questions, err := os.Pipe()
	if err != nil {
		return process.Result{}, err
	}
	go func() {
		_, _ = io.Copy(questions, c) // it fails only after the program has ended
		_ = questions.Close()
	}()
	cmd.Stdin = stdin
	res, err := run(ctx, cmd)
	_ = stdin.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		res.Exit = 0
		res.Signal = ""
	}
	if errors.Is(err, errTurnOver) {
		err = nil
	}
	c.closed = true
	c.changed.Signal()
	return res, err
}
