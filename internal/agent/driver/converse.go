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

// errTurnOver ends a program that stays after its turn. It is no failure.
var errTurnOver = errors.New("its turn is over")

// exitPatience is how long a program has to end by itself after its turn.
const exitPatience = 2 * time.Second

// conversation asks a program on its stdin what the decoder wants to know, until its turn is over.
type conversation struct {
	agent.Conversation
	mu    sync.Mutex
	more  sync.Cond
	lines []byte                  // that the program has not read yet
	ended bool                    // there will be no more of them
	over  bool                    // the turn has been answered
	done  context.CancelCauseFunc // ends the program
}

func converse(talk agent.Conversation, done context.CancelCauseFunc) *conversation {
	c := &conversation{Conversation: talk, done: done}
	c.more.L = &c.mu
	c.lines, _ = talk.Questions()
	return c
}

// Line reads a line of the program, which can bring up questions.
func (c *conversation) Line(line []byte) []stream.Item {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := c.Conversation.Line(line)
	lines, over := c.Questions()
	c.lines = append(c.lines, lines...)
	if over && !c.over {
		c.over = true
		c.ended = true
		time.AfterFunc(exitPatience, func() { c.done(errTurnOver) })
	}
	c.more.Signal()
	return items
}

// cancel asks the program to end the turn.
func (c *conversation) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, c.Cancel()...)
	c.ended = true
	c.more.Signal()
}

// Read returns the questions. Their end is that of the turn.
func (c *conversation) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.lines) == 0 && !c.ended {
		c.more.Wait()
	}
	if len(c.lines) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.lines)
	c.lines = c.lines[n:]
	return n, nil
}

// run has the program asked through a pipe, which ends with it. How it ended says nothing once it has answered.
func (c *conversation) run(
	ctx context.Context, cmd process.Command,
	run func(context.Context, process.Command) (process.Result, error),
) (process.Result, error) {
	stdin, questions, err := os.Pipe()
	if err != nil {
		return process.Result{}, err
	}
	go func() {
		_, _ = io.Copy(questions, c) // an error: it has ended
		_ = questions.Close()
	}()
	cmd.Stdin = stdin
	res, err := run(ctx, cmd)
	_ = stdin.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		res.Exit = 0
		res.Signal = ""
	}
	if errors.Is(err, errTurnOver) {
		err = nil
	}
	c.ended = true
	c.more.Signal()
	return res, err
}

// refusedAsFailure returns the ending of a turn in which the provider's last answer was an error. Programs that speak
// the Agent Client Protocol report that as their words, without its status, or not at all.
func (s *collector) refusedAsFailure(e ending) ending {
	if e.upstream < 400 || e.interrupted {
		return e
	}
	r := s.result
	reported := r != nil && r.Failed && r.Reason != agent.NoResult
	if reported && !errors.Is(e.err, errIdle) {
		if r.Status == 0 {
			r.Status = e.upstream
		}
		return e
	}
	s.result = &stream.Result{
		Failed: true,
		Reason: "the model's last answer was an error, status",
		Status: e.upstream,
	}
	e.err = nil
	e.Signal = ""
	return e
}
