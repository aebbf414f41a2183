// Package driver runs an agent once. It starts the CLI with the function that
// it gets, reads its Items, ends it at its limits, and returns the journal's
// AgentEnded. It does not judge the work.
package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// maxPrompt is what the CLIs take on stdin.
const maxPrompt = 10_000_000

// followEvery is how often a program's files are looked at: a budget may be passed
// by what is used in that time.
const followEvery = 500 * time.Millisecond

// Agent runs an agent for one iteration at a time. Run is where a sandbox goes.
type Agent struct {
	Adapter agent.Adapter
	Run     func(context.Context, process.Command) (process.Result, error)
	Dir     string
	Env     []string                                  // the base environment, as package environ makes it
	Watch   func(stream.Item)                         // sees every Item as it comes, one at a time; may be nil
	Open    func(name string) (io.WriteCloser, error) // a file for the transcript; may be nil
	Veil    func(io.Writer) io.WriteCloser            // hides secrets in all that it prints; may be nil
	Idle    time.Duration                             // how long it may print nothing; 0: for ever
	Timeout time.Duration                             // 0: none
	Budget  agent.Budget
	Now     func() time.Time                            // for a server that says how long to stay away
	Grace   time.Duration                               // as in process.Command
	Lend    func(ctx context.Context, dir string) error // gives a folder of ours to whom the agent runs as; may be nil
}

// Do runs the agent once and sums up what it did. An agent that fails is a sum
// too; the error says that none could be started.
func (h *Agent) Do(ctx context.Context, o agent.Order) (ended journal.AgentEnded, err error) {
	leave, err := h.furnish(ctx, &o)
	if err != nil {
		return journal.AgentEnded{}, fmt.Errorf("make a home for the agent: %w", err)
	}
	defer func() { err = errors.Join(err, leave()) }()
	o.Dir = h.Dir
	return h.do(ctx, o)
}

func (h *Agent) do(ctx context.Context, o agent.Order) (journal.AgentEnded, error) {
	cmd, err := h.command(o)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	record, err := openTranscript(h.Open, o)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	o.Env = cmd.Env
	s := newSum(h.Watch, o)
	res, err := h.follow(ctx, cmd, h.Adapter.Decoder(o), s, record)
	h.settle(ctx)
	attachment, lost := record.close()
	if lost != nil {
		s.take(stream.Progress{Text: "transcript: " + lost.Error()})
	}
	e := ending{
		Result: res, err: err, interrupted: ctx.Err() != nil || errors.Is(err, process.ErrStopped),
		speaks: h.Adapter.Speaks, limit: policy.Short(h.Timeout), idle: policy.Short(h.Idle), now: h.Now,
		fixes: fixes(h.Adapter),
	}
	if h.Adapter.Lacks != nil && res.Exit != 0 {
		e.lacks = h.Adapter.Lacks(res.Exit, s.gripe)
	}
	if s.unbegun(e) {
		return journal.AgentEnded{}, fault.Usage(
			fmt.Sprintf("the agent %s does not start", h.Adapter.Name), h.unstarted(e.err), e.err)
	}
	ended := s.ended(e)
	ended.Transcript, ended.Blind = attachment, !h.Adapter.Speaks
	return ended, nil
}

// unstarted is what to do about a program that was found, and does not start.
func (h *Agent) unstarted(err error) string {
	if errors.Is(err, process.ErrNotFound) && !errors.Is(err, process.ErrInterpreter) {
		return h.Adapter.Remedy()
	}
	return cmp.Or(process.Remedy(h.Adapter.Program, err), h.Adapter.Remedy())
}

func (h *Agent) command(o agent.Order) (process.Command, error) {
	if most := cmp.Or(h.Adapter.MaxPrompt, maxPrompt); len(o.Prompt) > most {
		return process.Command{}, fault.Usage(
			fmt.Sprintf("the prompt takes %d bytes, more than the %d an agent reads", len(o.Prompt), most),
			"shorten the task, or move parts of it into files of the repository", nil)
	}
	path, err := h.Adapter.Locate(h.Env, h.Dir)
	if err != nil {
		return process.Command{}, err
	}
	argv := slices.Clone(h.Adapter.Argv(o))
	argv[0] = path // the path that was found, so that no other PATH is searched
	return process.Command{
		Argv:    argv,
		Dir:     h.Dir,
		Env:     environ.Merge(h.Adapter.Usual, h.Env, h.Adapter.Env(o), environment(o)),
		Stdin:   strings.NewReader(stdin(h.Adapter, o)),
		Timeout: h.Timeout,
		Grace:   h.Grace,
	}, nil
}

// stdin is what the program reads, to its end: it is closed behind it.
func stdin(a agent.Adapter, o agent.Order) string {
	if a.Stdin == nil {
		return o.Prompt
	}
	return a.Stdin(o)
}

// settle waits for the files of an agent that works on a copy of them.
func (h *Agent) settle(ctx context.Context) {
	if h.Adapter.Settle == 0 {
		return
	}
	timer := time.NewTimer(h.Adapter.Settle)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// follow runs cmd and feeds its output to the decoder, and so to s. Its errors
// are logged. Secrets are hidden before any text is shortened, because half a
// secret could not be found.
func (h *Agent) follow(ctx context.Context, cmd process.Command, decoder agent.Decoder, s *sum, record *transcript) (process.Result, error) {
	said := &process.Lines{Each: func(line []byte, cut bool) {
		s.heard()
		if cut && h.Adapter.Speaks {
			s.take(stream.Progress{Text: "left out a line that is too long"})
			return
		}
		s.take(decoder.Line(line)...)
	}}
	moaned := &process.Lines{Max: 16 << 10, Each: func(line []byte, _ bool) { h.moan(s, string(line)) }}
	ctx, alive, done := attend(ctx, h.Idle)
	defer done(nil)
	s.alive = alive
	s.meter = func(spent stream.Spent) {
		if err := exceeded(h.Budget, spent); err != nil {
			done(err)
		}
	}
	out, errs := h.veiled(io.MultiWriter(record, said)), h.veiled(moaned)
	life := lively{s, alive}
	cmd.Stdout, cmd.Stderr = io.MultiWriter(out, life), io.MultiWriter(errs, life)
	unfollow := followFiles(decoder, s)
	res, err := h.Run(ctx, cmd)
	unfollow()
	err = errors.Join(err, out.Close(), errs.Close(), said.Close(), moaned.Close())
	s.take(decoder.End()...)
	return res, err
}

// followFiles looks now and then at what a decoder's program writes elsewhere. The end
// of that is the last look.
func followFiles(decoder agent.Decoder, s *sum) (end func()) {
	f, follows := decoder.(follower)
	if !follows {
		return func() {}
	}
	var watching sync.WaitGroup
	over := make(chan struct{})
	watching.Go(func() {
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.take(f.Follow()...)
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		watching.Wait()
		s.take(f.Follow()...)
	}
}

// veiled is to without the secrets in what is written to it.
func (h *Agent) veiled(to io.Writer) io.WriteCloser {
	if h.Veil == nil {
		return unveiled{to}
	}
	return h.Veil(to)
}

type unveiled struct{ io.Writer }

func (unveiled) Close() error { return nil }

// moan takes a line of the program's errors: news of its workings, unless the
// adapter knows it for more.
func (h *Agent) moan(s *sum, line string) {
	if h.Adapter.Complaint != nil {
		if item, known := h.Adapter.Complaint(line); known {
			s.take(item)
			return
		}
	}
	s.complain(line)
}

// follower is a Decoder whose program also writes its usage elsewhere as it
// works. Follow is called beside Line, and gives what is new.
type follower interface{ Follow() []stream.Item }

// furnish makes the home that the adapter's program is given, under the folder
// for temporary files that the program has too, and tells the order where it
// is. Leaving takes all of it away, with what the program left there. It does
// nothing for a program that has the user's own home.
func (h *Agent) furnish(ctx context.Context, o *agent.Order) (leave func() error, err error) {
	if len(h.Adapter.Home) == 0 {
		return func() error { return nil }, nil
	}
	home, err := os.MkdirTemp(environ.Get(h.Env, "TMPDIR"), "ralph-home-")
	if err != nil {
		return nil, err
	}
	leave = func() error { return untrusted.RemoveAll(home) }
	for name, text := range h.Adapter.Home {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), untrusted.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, errors.Join(err, leave())
		}
	}
	if h.Lend != nil {
		if err := h.Lend(ctx, home); err != nil {
			return nil, errors.Join(err, leave())
		}
	}
	o.Home = home
	return leave, nil
}

// environment tells every agent where it stands.
func environment(o agent.Order) []string {
	return environ.Pairs(
		"RALPH_ITERATION", strconv.Itoa(o.Iteration),
		"RALPH_MAX_ITERATIONS", strconv.Itoa(o.Max),
		"RALPH_STORY", o.Story,
	)
}
