package job

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// question is what an agent is asked that only reads.
type question struct {
	of     Reviewer // who is asked
	commit string   // of which it gets a clean checkout
	log    string   // what the name of its transcript begins with
	order  agent.Order
}

const (
	answerWords = 64 << 10  // of an answer
	answerTime  = time.Hour // where an iteration has no limit
)

// consult has an agent read a clean checkout that is thrown away, and gives the
// end of what it says. What it used is told in any case.
func (s *site) consult(ctx context.Context, run journal.Run, q question, emit emit) (journal.AgentEnded, string, error) {
	if verdict.Broke(run) { // of which nothing is left an agent would take for no limit
		return journal.AgentEnded{}, "", errBroke
	}
	dir, done, err := s.clean.Checkout(ctx, run, q.commit)
	if err != nil {
		return journal.AgentEnded{}, "", err
	}
	defer done()
	if s.Wall == nil {
		if err := q.of.Agent.Trusts(dir); err != nil {
			return journal.AgentEnded{}, "", err
		}
	}
	said := &answer{watch: s.Watch}
	ended, err := s.have(ctx, s.reader(run, dir, q, said), q.order, emit)
	if err == nil && ended.Failed {
		err = fmt.Errorf("%s failed: %s", q.of.Agent.Name, ended.Why)
	}
	return ended, said.text(), err
}

// reader is the agent that reads the checkout at dir.
func (s *site) reader(run journal.Run, dir string, q question, said *answer) agent.Hand {
	hand := s.hand(run, dir)
	hand.Adapter, hand.Env, hand.Watch = q.of.Agent, s.agentEnv(q.of.Env), said.take
	hand.Open = func(name string) (io.WriteCloser, error) { return s.home.Create(q.log + name) }
	if hand.Timeout == 0 {
		hand.Timeout = answerTime
	}
	return hand
}

// answer is the end of what an agent says after its last tool call: that is
// where an opinion is.
type answer struct {
	watch func(stream.Item)
	words []byte
	stale bool
}

func (a *answer) take(item stream.Item) {
	if a.watch != nil {
		a.watch(item)
	}
	switch i := item.(type) { //nolint:gochecksumtype // the rest is no word
	case stream.Text:
		if a.stale {
			a.words, a.stale = nil, false
		}
		a.add(i.Text + "\n")
	case stream.ToolStart:
		a.stale = true
	case stream.Result:
		if len(a.words) == 0 && !i.Failed {
			a.add(i.Text)
		}
	}
}

// add forgets the beginning of what is too long, now and then.
func (a *answer) add(text string) {
	a.words = append(a.words, text...)
	if len(a.words) > 2*answerWords {
		a.words = append([]byte(nil), a.words[len(a.words)-answerWords:]...)
	}
}

func (a *answer) text() string {
	return string(a.words[max(len(a.words)-answerWords, 0):])
}
