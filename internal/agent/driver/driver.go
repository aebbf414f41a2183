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

// maxPrompt is how many bytes the CLIs read from stdin.
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
func (a *Agent) Do(ctx context.Context, o agent.Order) (ended journal.AgentEnded, err error) {
	removeHome, err := a.makeHome(ctx, &o)
	if err != nil {
		return journal.AgentEnded{}, fmt.Errorf("make a home for the agent: %w", err)
	}
	defer func() { err = errors.Join(err, removeHome()) }()
	o.Dir = cmp.Or(a.Inside, a.Dir)
	return a.run(ctx, o)
}

func (a *Agent) run(ctx context.Context, o agent.Order) (journal.AgentEnded, error) {
	cmd, err := a.command(o)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	record, err := openTranscript(a.Open, o)
	if err != nil {
		return journal.AgentEnded{}, err
	}
	o.Env = cmd.Env
	s := newCollector(a.Watch, o)
	decoder := a.Adapter.Decoder(o)
	res, err := a.follow(ctx, cmd, decoder, s, record)
	a.waitForSync(ctx)
	attachment, closeErr := record.close()
	if closeErr != nil {
		s.take(stream.Progress{Text: "transcript: " + closeErr.Error()})
	}
	e := ending{Result: res, agent: a, err: err}
	e.unanswered, _ = errors.AsType[*stream.Unanswered](context.Cause(ctx))
	wasCancelled := ctx.Err() != nil && e.unanswered == nil
	e.interrupted = wasCancelled || errors.Is(err, process.ErrStopped)
	if _, ok := decoder.(agent.Conversation); ok && a.Upstream != nil {
		e.upstream = a.Upstream()
	}
	if res.Exit != 0 && a.isLoginMissing(s.lastError) {
		e.missingLogin = strings.TrimPrefix(s.lastError, "Error: ")
	}
	if e.neverStarted(s) {
		return journal.AgentEnded{}, fault.Usage(
			fmt.Sprintf("the agent %s does not start", a.Adapter.Name), a.startHint(e.err), e.err)
	}
	ended := s.event(e)
	ended.Transcript = attachment
	ended.Blind = a.Adapter.Plain
	return ended, nil
}

func (a *Agent) isLoginMissing(lastError string) bool {
	message := a.Adapter.MissingLogin
	return message != "" && strings.Contains(lastError, message)
}

func (a *Agent) startHint(err error) string {
	if errors.Is(err, process.ErrNotFound) && !errors.Is(err, process.ErrInterpreter) {
		return a.Adapter.InstallHint()
	}
	sandboxHint := fault.Hint(err)
	return cmp.Or(sandboxHint, process.Remedy(a.Adapter.Program, err), a.Adapter.InstallHint())
}

func (a *Agent) command(o agent.Order) (process.Command, error) {
	limit := cmp.Or(a.Adapter.MaxPrompt, maxPrompt)
	if len(o.Prompt) > limit {
		return process.Command{}, fault.Usage(
			fmt.Sprintf("the prompt takes %d bytes, more than the %d an agent reads", len(o.Prompt), limit),
			"shorten the task, or move parts of it into files of the repository", nil)
	}
	path, err := a.Adapter.Locate(a.Env, a.Dir)
	if err != nil {
		return process.Command{}, err
	}
	input := o.Prompt
	if a.Adapter.Stdin != nil {
		input = a.Adapter.Stdin(o)
	}
	argv := slices.Clone(a.Adapter.Argv(o))
	if !strings.Contains(argv[0], "/") { // a path is kept: in a box it can differ from the one outside
		argv[0] = path // so that no other PATH is searched
	}
	return process.Command{
		Argv:    argv,
		Dir:     a.Dir,
		Env:     environ.Merge(a.Adapter.DefaultEnv, a.Env, a.Adapter.Env(o), iterationEnv(o)),
		Stdin:   strings.NewReader(input),
		Timeout: a.Timeout,
		Grace:   a.Grace,
	}, nil
}

func (a *Agent) waitForSync(ctx context.Context) {
	select {
	case <-time.After(a.Adapter.SyncDelay):
	case <-ctx.Done():
	}
}

// follow runs the command and collects its items. Secrets are removed before text is shortened: half a secret could not
// be recognized.
func (a *Agent) follow(
	ctx context.Context, cmd process.Command, decoder agent.Decoder, s *collector, record *transcript,
) (process.Result, error) {
	ctx, alive, stop := withIdleLimit(ctx, a.Idle)
	defer stop(nil)
	s.alive = alive
	run := a.Run
	questions, isConversation := decoder.(agent.Conversation)
	if isConversation {
		c := converse(questions, stop)
		defer context.AfterFunc(ctx, c.cancel)()
		decoder = c
		run = func(ctx context.Context, cmd process.Command) (process.Result, error) {
			return c.run(ctx, cmd, a.Run)
		}
	}
	outLines := &process.Lines{Each: func(line []byte, cut bool) {
		s.countLine()
		if cut && !a.Adapter.Plain {
			s.take(stream.Progress{Text: "left out a line that is too long"})
			return
		}
		s.take(decoder.Line(line)...)
	}}
	errLines := &process.Lines{Max: 16 << 10, Each: func(line []byte, _ bool) { s.takeError(string(line)) }}
	out := a.Redact(io.MultiWriter(record, outLines))
	errs := a.Redact(errLines)
	activity := activityWriter{s, alive}
	cmd.Stdout = io.MultiWriter(out, activity)
	cmd.Stderr = errs
	if !isConversation { // the log of a conversation is no activity: some programs retry for hours
		cmd.Stderr = io.MultiWriter(errs, activity)
	}
	res, err := run(ctx, cmd)
	err = errors.Join(err, out.Close(), errs.Close(), outLines.Close(), errLines.Close())
	s.take(decoder.End()...)
	return res, err
}

// makeHome makes an adapter's own home in the temporary folder.
func (a *Agent) makeHome(ctx context.Context, o *agent.Order) (remove func() error, err error) {
	if len(a.Adapter.Home) == 0 {
		return func() error { return nil }, nil
	}
	home, err := workspace.NewTemporary(environ.Get(a.Env, "TMPDIR"), "ralph-for-agent-")
	if err != nil {
		return nil, err
	}
	if err := a.fillHome(ctx, home.Path); err != nil {
		return nil, errors.Join(err, home.Remove())
	}
	o.Home = home.Path
	return home.Remove, nil
}

func (a *Agent) fillHome(ctx context.Context, home string) error {
	for name, text := range a.Adapter.Home {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := untrusted.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if a.Lend == nil {
		return nil
	}
	return a.Lend(ctx, home)
}

func iterationEnv(o agent.Order) []string {
	return environ.Pairs(
		"RALPH_ITERATION", strconv.Itoa(o.Iteration),
		"RALPH_MAX_ITERATIONS", strconv.Itoa(o.Max),
		"RALPH_STORY", o.Story,
	)
}
