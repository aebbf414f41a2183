package laptop

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/recorded"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// followInterval is the interval of looks at a run of another process.
const followInterval = 200 * time.Millisecond

// Follow prints a run's events until the run has stopped or its process has ended. Of turns that end after it began,
// it also prints what the agent says and does, as it comes.
func (r ShownRun) Follow(ctx context.Context, w World, home workspace.Run, run journal.Run) error {
	f := follower{
		home:    home,
		console: view.Console{Look: w.lookFor(w.Stdout), Now: w.Now},
		out:     w.Stdout,
		run:     journal.Run{Resume: run.Resume},
	}
	tick := time.Tick(followInterval)
	for seen := 0; ; {
		last := r.Abandoned(run) // asked before the look: what was written until then is seen by it
		entries, err := home.Entries()
		if err != nil {
			return err
		}
		for _, entry := range entries[min(seen, len(entries)):] {
			f.event(entry, seen == 0)
		}
		f.turn.look()
		seen = len(entries)
		if f.run.Stop != nil {
			return nil
		}
		if last {
			headline, next := view.Gist(f.run, true)
			_, err := fmt.Fprintln(w.Stdout, "! "+headline+"\nnext: "+next)
			return err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return nil
		}
	}
}

// follower prints the events of a run, and the turn that goes on.
type follower struct {
	home    workspace.Run
	console view.Console
	out     io.Writer
	run     journal.Run // as far as it was printed
	turn    *followedTurn
}

// event prints an event. Of a turn that had ended before the first look, only the end is shown.
func (f *follower) event(entry journal.Entry, first bool) {
	if _, ended := entry.Event.(journal.AgentEnded); ended {
		if !first {
			f.turn.end()
		}
		f.turn = nil
	}
	f.run.Add(entry)
	f.print(f.console.Event(f.run, entry.Event))
	if _, began := entry.Event.(journal.IterationBegan); began {
		f.turn = followTurn(f.home, f.run, func(item stream.Item) { f.print(f.console.Item(item)) })
	}
}

func (f *follower) print(text string) {
	if text != "" {
		fmt.Fprintln(f.out, text)
	}
}

// followedTurn reads what an agent prints from its transcript, while it works. nil: none is readable.
type followedTurn struct {
	home    workspace.Run
	name    string // of the transcript
	read    int64  // bytes so far
	decoder agent.Decoder
	lines   process.Lines
	show    func(stream.Item)
}

// followTurn returns the turn of a run that began last.
func followTurn(home workspace.Run, run journal.Run, show func(stream.Item)) *followedTurn {
	it, open := run.OpenIteration()
	decoder := recorded.Decoder(run.Policy.Agent)
	if !open || decoder == nil {
		return nil
	}
	t := &followedTurn{home: home, name: driver.TranscriptName(it.Number, it.Turned), decoder: decoder, show: show}
	t.lines.Each = func(line []byte, _ bool) { t.showAll(decoder.Line(line)) }
	return t
}

func (t *followedTurn) showAll(items []stream.Item) {
	for _, item := range items {
		t.show(item)
	}
}

// look shows what came since the last look. A transcript that cannot be read has nothing.
func (t *followedTurn) look() {
	if t == nil {
		return
	}
	t.read, _ = t.home.CopyFrom(t.name, t.read, &t.lines)
}

func (t *followedTurn) end() {
	if t == nil {
		return
	}
	t.look()
	_ = t.lines.Close() // never fails
	t.showAll(t.decoder.End())
}
