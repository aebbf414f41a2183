package driver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/claim"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// collector sums up one run. Stdout and stderr use two goroutines: mu also orders the calls of watch.
type collector struct {
	mu        sync.Mutex
	watch     func(stream.Item)
	claims    claim.Claims
	lines     int      // of output
	logs      []string // files that only record progress
	tools     int
	chores    int            // tool calls that name one of the logs
	failed    int            // tool calls that failed
	result    *stream.Result // the newest one: each covers the whole run
	words     process.Tail   // since its last tool call
	stale     bool           // a tool was called after words
	spent     stream.Spent   // usage so far, as the agent reports it
	lastError string         // the most likely cause among the lines of stderr
	retry     *stream.Retry  // the agent has only retried since; nil: it works
	alive     func()
}

func newCollector(watch func(stream.Item), o agent.Order) *collector {
	if watch == nil {
		watch = func(stream.Item) {}
	}
	return &collector{
		watch:  watch,
		alive:  func() {},
		words:  process.Tail{N: maxWords},
		claims: claim.Claims{Wanted: o.Tags, Bare: true},
		logs:   o.ProgressFiles,
	}
}

func (s *collector) countLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines++
}

// takeError takes a line of stderr.
func (s *collector) takeError(line string) {
	line = agent.Short(line)
	if line == "" {
		return
	}
	s.take(stream.Progress{Text: line})
	s.mu.Lock()
	defer s.mu.Unlock()
	if causeScore(line) >= causeScore(s.lastError) {
		s.lastError = line
	}
}

// causeScore: the last line of output is often only a hint, not the cause.
func causeScore(line string) int {
	line = strings.ToLower(line)
	switch {
	case line == "":
		return 0
	case strings.HasPrefix(line, "error"), strings.HasPrefix(line, "fatal"):
		return 4
	case strings.HasPrefix(line, "hint: "), strings.Contains(line, ": hint: "):
		return 1
	case strings.Contains(line, "error"):
		return 3
	}
	return 2
}

func (s *collector) take(items ...stream.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range items {
		switch i := item.(type) { //nolint:gochecksumtype // the others have no numbers
		case stream.Spent:
			i.Usage = i.Usage.Plausible()
			i.Cost = i.Cost.Plausible()
			item = i
		case stream.Result:
			i.Usage = i.Usage.Plausible()
			i.Cost = i.Cost.Plausible()
			item = i
		}
		s.add(item)
		s.watch(item)
	}
}

func (s *collector) add(item stream.Item) {
	s.noteRetry(item)
	switch item := item.(type) {
	case stream.Text:
		s.claims.Read(item.Text)
		s.addText(item.Text)
	case stream.ToolStart:
		s.tools++
		s.stale = true
		if slices.ContainsFunc(s.logs, func(log string) bool { return strings.Contains(item.Input, log) }) {
			s.chores++
		}
	case stream.ToolEnd:
		if item.Failed {
			s.failed++
		}
	case stream.Spent:
		s.spent = item
	case stream.Result:
		s.result = &item
	case stream.Todo, stream.Progress, stream.Retry:
	}
}

// maxWords limits what is kept of its last words, in bytes.
const maxWords = 64 << 10

func (s *collector) addText(text string) {
	if s.stale {
		s.words = process.Tail{N: maxWords}
		s.stale = false
	}
	fmt.Fprintln(&s.words, text)
}

// totals returns everything except the end. A failed result's text is the program's, not the agent's.
func (s *collector) totals() journal.AgentEnded {
	ended := journal.AgentEnded{Tools: s.tools, Chores: s.chores, ToolErrors: s.failed}
	ended.Usage, ended.Cost = s.usage()
	if s.result != nil && !s.result.Failed {
		s.claims.Read(s.result.Text)
		if len(bytes.TrimSpace(s.words.Bytes())) == 0 {
			fmt.Fprint(&s.words, s.result.Text)
		}
	}
	ended.Promises = s.claims.Promises
	ended.Response = s.claims.Response
	ended.Question = s.claims.Question
	ended.Words = strings.TrimSpace(s.words.String())
	return ended
}

// usage returns the result's, or of an agent that was ended, what it had reported so far.
func (s *collector) usage() (stream.Usage, stream.Cost) {
	usage := s.spent.Usage
	cost := s.spent.Cost
	r := s.result
	if r == nil {
		return usage, cost
	}
	if r.Usage.Tokens() < usage.Tokens() { // of one thread among several
		return usage, cost
	}
	if !r.Cost.Known && r.Usage.Tokens() > usage.Tokens() {
		cost.Known = false
	}
	if covers(r.Cost, cost) {
		cost = r.Cost
	}
	if !r.Failed || r.Usage != (stream.Usage{}) {
		usage = r.Usage
	}
	return usage, cost
}

// covers reports whether the cost of the result counts in place of the one that was reported before.
func covers(result, reported stream.Cost) bool {
	if result.Known {
		return true
	}
	return !reported.Known && result.Most >= reported.Most
}
