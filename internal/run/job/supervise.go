package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Supervised is a command that is restarted until its task is done, on the user's terminal.
type Supervised struct {
	Task   workspace.Task
	Argv   []string
	Env    []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
}

// After a timeout an attempt has time to clean up; after an interrupt a person waits.
const (
	timeoutGrace   = 5 * time.Second
	interruptGrace = time.Second
)

// supervisor runs a command instead of an agent.
type supervisor struct {
	machine *Machine
	command *Supervised
}

func (s *supervisor) runSupervised(ctx context.Context, run journal.Run, step verdict.Iterate, emit emit) error {
	emit(journal.IterationBegan{Number: step.Number, Bus: s.command.Task.BusSize()})
	command := s.command.command(run.Policy, step.Number)
	command.Linger = func() (most, look time.Duration) { return s.linger(run.Policy.Supervision, emit) }
	result, err := s.machine.Exec(ctx, command)
	interrupted := ctx.Err() != nil || errors.Is(err, process.ErrStopped)
	ended := journal.AgentEnded{
		Exit:      result.Exit,
		Signal:    result.Signal,
		TimedOut:  result.TimedOut,
		Swept:     result.Swept,
		Blind:     true,
		TookMS:    result.Took.Milliseconds(),
		CannotRun: !interrupted && process.CannotStart(err),
		Why:       failure(result, withRemedy(command.Argv[0], err), command.Timeout),
	}
	if interrupted {
		ended.Why = "interrupted"
	}
	ended.Failed = ended.Why != ""
	emit(ended)
	if interrupted {
		return err
	}
	return nil
}

func (c *Supervised) command(p policy.Policy, number int) process.Command {
	env := slices.Concat(c.Env, []string{"TASK_FOLDER=" + c.Task.Dir, "RALPH_ATTEMPT=" + strconv.Itoa(number)})
	return process.Command{
		Argv:        c.Argv,
		Env:         env,
		Stdin:       c.Stdin,
		Stdout:      c.Stdout,
		Stderr:      c.Stderr,
		Timeout:     p.Limits.Iteration.Std(),
		Grace:       timeoutGrace,
		CancelGrace: interruptGrace,
	}
}

func withRemedy(program string, err error) error {
	if !process.CannotStart(err) {
		return err
	}
	return &fault.Fault{What: err.Error(), Fix: process.Remedy(program, err)}
}

// failure returns why an attempt failed, or nothing. A request to wait is no failure.
func failure(result process.Result, err error, limit time.Duration) string {
	switch {
	case result.TimedOut:
		return "agent timeout after " + limit.String()
	case err != nil:
		return fault.Told(err)
	case result.Signal != "":
		return "ended by " + result.Signal
	case result.Exit != 0 && result.Exit != verdict.WaitExitCode:
		return fmt.Sprintf("exit code %d", result.Exit)
	}
	return ""
}

// linger returns a finished task's processes time. None may be left before another attempt.
func (s *supervisor) linger(p policy.Supervision, emit emit) (most, look time.Duration) {
	done, err := s.command.Task.Done()
	if err != nil || !done {
		return 0, p.Poll.Std()
	}
	most = p.Wait.Std()
	text := most.String()
	if most == 0 {
		most = math.MaxInt64
		text = "any time"
	}
	emit(journal.Noted{What: "DONE marker present, waiting for active children, " + text + " at most"})
	return most, p.Poll.Std()
}

// readTaskFolder reads only messages since the newest attempt.
func (s *supervisor) readTaskFolder(run journal.Run, emit emit) error {
	var looked journal.TaskLooked
	done, err := s.command.Task.Done()
	if err != nil {
		looked.Broken = fault.Told(err)
	}
	looked.Done = done
	if n := len(run.Iterations); n > 0 {
		if words, asked := s.command.Task.WaitMessage(run.Iterations[n-1].Bus); asked {
			looked.Wait = "message"
			looked.Words = words
		}
	}
	if s.command.Task.HasWaitFile() {
		looked.Wait = "file"
	}
	emit(looked)
	return nil
}

// announceEnd ignores errors: a message that cannot be written does not make the task less done.
func (s *supervisor) announceEnd(run journal.Run, step verdict.AnnounceEnd, emit emit) error {
	settled := journal.TaskSettled{Reason: step.Reason, Words: step.Words}
	message := workspace.Message{At: s.machine.Now(), Run: run.ID, Text: step.Words}
	for _, err := range s.command.postEnd(step, message) {
		if err != nil {
			settled.Failed = append(settled.Failed, err.Error())
		}
	}
	emit(settled)
	return nil
}

func (c *Supervised) postEnd(step verdict.AnnounceEnd, m workspace.Message) []error {
	if step.Reason == policy.Waiting {
		return []error{c.Task.RemoveWaitFile()}
	}
	forTask := m
	forTask.Type = "INFO"
	forProject := m
	forProject.Type = "FACT"
	if step.Reason == policy.MaxIterations {
		forTask.Type = "ERROR"
		forProject.Type = "ERROR"
	}
	return []error{c.Task.PostTask(forTask), c.Task.PostProject(forProject)}
}
