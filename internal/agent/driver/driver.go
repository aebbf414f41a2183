// Package driver runs an agent once. It starts the CLI, reads its items, ends it at its
// limits, and returns the journal's AgentEnded event. It does not verify the work.
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
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// maxPrompt is what the CLIs take on stdin.
const maxPrompt = 10_000_000

// Agent runs an agent for one iteration at a time. Run may add a sandbox.
type Agent struct {
	Adapter agent.Adapter
	Run     func(context.Context, process.Command) (process.Result, error)
	Dir     string
	Inside  string                                      // Dir as the agent finds it, in a sandbox; empty: the same
	Env     []string                                    // the base environment, as package environ makes it
	Watch   func(stream.Item)                           // called for every item, one at a time; may be nil
	Open    func(name string) (io.WriteCloser, error)   // creates the transcript; may be nil
	Redact  func(io.Writer) io.WriteCloser              // removes secrets from the output
	Idle    time.Duration                               // limit without output; 0: none
	Timeout time.Duration                               // 0: none
	Now     func() time.Time                            // for servers that say when to retry
	Grace   time.Duration                               // as in process.Command
	Lend    func(ctx context.Context, dir string) error // gives a folder to the agent's user; may be nil
	// Upstream returns the status of the provider's last answer in this turn; 0: none. May be nil.
	Upstream func() int
}

// Do runs the agent once. It returns an error only if the agent could not be started.
func (h *Agent) Do(ctx context.Context, o agent.Order) (ended journal.AgentEnded, err error) {
	leave, err := h.makeHome(ctx, &o)
	if err != nil {
		return journal.AgentEnded{}, fmt.Errorf("make a home for the agent: %w", err)
	}
	defer func() { err = errors.Join(err, leave()) }()
	o.Dir = cmp.Or(h.Inside, h.Dir)
	return h.run(ctx, o)
}

func (h *Agent) run(ctx context.Context, o agent.Order) (journal.AgentEnded, error) {
	cmd, err := h.command(o)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	record, err := openTranscript(h.Open, o)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	o.Env = cmd.Env
	s := newCollector(h.Watch, o)
	decoder := h.Adapter.Decoder(o)
	res, err := h.follow(ctx, cmd, decoder, s, record)
	h.waitForSync(ctx)
	attachment, lost := record.close()
	if lost != nil {
		s.take(stream.Progress{Text: "transcript: " + lost.Error()})
	}
	e := ending{Result: res, agent: h, err: err}
	e.unanswered, _ = errors.AsType[*stream.Unanswered](context.Cause(ctx))
	e.interrupted = errors.Is(err, process.ErrStopped)
	if e.unanswered == nil && ctx.Err() != nil {
		e.interrupted = true
	}
	if _, ok := decoder.(agent.Conversation); ok && h.Upstream != nil {
		e.upstream = h.Upstream()
	}
	if res.Exit != 0 && h.isLoginMissing(s.lastError) {
		e.missingLogin = strings.TrimPrefix(s.lastError, "Error: ")
	}
	if e.neverStarted(s) {
		return journal.AgentEnded{}, fault.Usage(
			fmt.Sprintf("the agent %s does not start", h.Adapter.Name), h.startHint(e.err), e.err)
	}
	ended := s.event(e)
	ended.Transcript = attachment
	ended.Blind = h.Adapter.Plain
	return ended, nil
}

func (h *Agent) isLoginMissing(lastError string) bool {
	message := h.Adapter.MissingLogin
	return message != "" && strings.Contains(lastError, message)
}

func (h *Agent) startHint(err error) string {
	if errors.Is(err, process.ErrNotFound) && !errors.Is(err, process.ErrInterpreter) {
		return h.Adapter.InstallHint()
	}
	ofSandbox := fault.Hint(err)
	return cmp.Or(ofSandbox, process.Remedy(h.Adapter.Program, err), h.Adapter.InstallHint())
}

func (h *Agent) command(o agent.Order) (process.Command, error) {
	most := cmp.Or(h.Adapter.MaxPrompt, maxPrompt)
	if len(o.Prompt) > most {
		return process.Command{}, fault.Usage(
			fmt.Sprintf("the prompt takes %d bytes, more than the %d an agent reads", len(o.Prompt), most),
			"shorten the task, or move parts of it into files of the repository", nil)
	}
	path, err := h.Adapter.Locate(h.Env, h.Dir)
	if err != nil {
		return process.Command{}, err
	}
	input := o.Prompt
	if h.Adapter.Stdin != nil {
		input = h.Adapter.Stdin(o)
	}
	argv := slices.Clone(h.Adapter.Argv(o))
	if !strings.Contains(argv[0], "/") { // a path is one of the box, whose folder has another name outside
		argv[0] = path // so that no other PATH is searched
	}
	return process.Command{
		Argv:    argv,
		Dir:     h.Dir,
		Env:     environ.Merge(h.Adapter.DefaultEnv, h.Env, h.Adapter.Env(o), iterationEnv(o)),
		Stdin:   strings.NewReader(input),
		Timeout: h.Timeout,
		Grace:   h.Grace,
	}, nil
}

func (h *Agent) waitForSync(ctx context.Context) {
	select {
	case <-time.After(h.Adapter.SyncDelay):
	case <-ctx.Done():
	}
}

// follow removes secrets before it shortens text: half a secret could not be recognized.
func (h *Agent) follow(
	ctx context.Context, cmd process.Command, decoder agent.Decoder, s *collector, record *transcript,
) (process.Result, error) {
	ctx, alive, done := withIdleLimit(ctx, h.Idle)
	defer done(nil)
	s.alive = alive
	run := h.Run
	talk, talks := decoder.(agent.Conversation)
	if talks {
		c := converse(talk, done)
		defer context.AfterFunc(ctx, c.cancel)()
		decoder = c
		run = func(ctx context.Context, cmd process.Command) (process.Result, error) {
			return c.run(ctx, cmd, h.Run)
		}
	}
	outLines := &process.Lines{Each: func(line []byte, cut bool) {
		s.countLine()
		if cut && !h.Adapter.Plain {
			s.take(stream.Progress{Text: "left out a line that is too long"})
			return
		}
		s.take(decoder.Line(line)...)
	}}
	errLines := &process.Lines{Max: 16 << 10, Each: func(line []byte, _ bool) { s.takeError(string(line)) }}
	out := h.Redact(io.MultiWriter(record, outLines))
	errs := h.Redact(errLines)
	activity := activityWriter{s, alive}
	cmd.Stdout = io.MultiWriter(out, activity)
	cmd.Stderr = errs
	if !talks { // the log of a conversation is no activity: some programs try again for hours
		cmd.Stderr = io.MultiWriter(errs, activity)
	}
	res, err := run(ctx, cmd)
	err = errors.Join(err, out.Close(), errs.Close(), outLines.Close(), errLines.Close())
	s.take(decoder.End()...)
	return res, err
}

// makeHome makes an adapter's own home in the temporary folder. leave removes it.
func (h *Agent) makeHome(ctx context.Context, o *agent.Order) (leave func() error, err error) {
	if len(h.Adapter.Home) == 0 {
		return func() error { return nil }, nil
	}
	home, err := workspace.NewTemporary(environ.Get(h.Env, "TMPDIR"), "ralph-for-agent-")
	if err != nil {
		return nil, err
	}
	if err := h.fillHome(ctx, home.Path); err != nil {
		return nil, errors.Join(err, home.Remove())
	}
	o.Home = home.Path
	return home.Remove, nil
}

func (h *Agent) fillHome(ctx context.Context, home string) error {
	for name, text := range h.Adapter.Home {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := untrusted.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if h.Lend == nil {
		return nil
	}
	return h.Lend(ctx, home)
}

func iterationEnv(o agent.Order) []string {
	return environ.Pairs(
		"RALPH_ITERATION", strconv.Itoa(o.Iteration),
		"RALPH_MAX_ITERATIONS", strconv.Itoa(o.Max),
		"RALPH_STORY", o.Story,
	)
}
