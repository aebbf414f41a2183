package driver

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/claim"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// sum adds up the Items of one agent's run. What an agent prints and what it
// complains of come from two goroutines, so it has a lock; watch is called
// under it, and so sees one Item at a time.
type sum struct {
	mu     sync.Mutex
	watch  func(stream.Item)
	claims *claim.Scanner
	tags   []string
	lines  int      // of its output
	books  []string // files in which it only keeps account
	tools  int
	chores int            // of its tools: calls that name one of the books
	failed int            // of its tools
	result *stream.Result // the newest: each of them speaks for the whole run
	words  []byte         // since its last tool call
	stale  bool           // a tool was called since
	spent  stream.Spent   // so far, by its own word
	meter  func(stream.Spent)
	gripe  string        // the most telling line of its complaints
	retry  *stream.Retry // it has only tried again since; nil: it works
	alive  func()
}

func newSum(watch func(stream.Item), o agent.Order) *sum {
	if watch == nil {
		watch = func(stream.Item) {}
	}
	return &sum{watch: watch, meter: func(stream.Spent) {}, alive: func() {}, claims: claim.New(o.Tags...), tags: o.Tags, books: o.Books}
}

// heard counts a line of output, whether it says anything or not.
func (s *sum) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines++
}

func (s *sum) silent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines == 0
}

func (s *sum) complain(line string) {
	line = agent.Short(line)
	if line == "" {
		return
	}
	s.take(stream.Progress{Text: line})
	s.mu.Lock()
	defer s.mu.Unlock()
	if causal(line) >= causal(s.gripe) {
		s.gripe = line
	}
}

// causal is how much of a cause there is likely to be in a line of complaints:
// what programs say last is often only what to do about it.
func causal(line string) int {
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

func (s *sum) take(items ...stream.Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range items {
		s.add(item)
		s.watch(item)
	}
}

func (s *sum) add(item stream.Item) {
	s.retried(item)
	switch item := item.(type) {
	case stream.Text:
		s.claims.Write(item.Text)
		s.claims.End()
		s.say(item.Text)
	case stream.ToolStart:
		s.tools++
		s.stale = true
		if s.keepsBooks(item) {
			s.chores++
		}
	case stream.ToolEnd:
		if item.Failed {
			s.failed++
		}
	case stream.Spent:
		s.spent = item
		s.meter(item)
	case stream.Result:
		s.result = &item
	case stream.Todo, stream.Progress, stream.Retry:
	}
}

// keepsBooks tells whether a call only marks down what was done: marking a
// story as done is no work on it.
func (s *sum) keepsBooks(call stream.ToolStart) bool {
	return slices.ContainsFunc(s.books, func(book string) bool { return strings.Contains(call.Input, book) })
}

// say keeps the end of what is said. It cuts seldom, for an agent may say
// little at a time and go on all night.
func (s *sum) say(text string) {
	if s.stale {
		s.words, s.stale = s.words[:0], false
	}
	s.words = append(append(s.words, text...), '\n')
	const enough = utf8.UTFMax * (maxWords + 1)
	if len(s.words) > 16*enough {
		s.words = slices.Clone(s.words[len(s.words)-enough:])
	}
}

// sum closes the claims and gives what there was, but for how it ended. A
// result repeats the last words of an agent that has any, and is a text of the
// program's own when it failed.
func (s *sum) sum() journal.AgentEnded {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := journal.AgentEnded{Tools: s.tools, Chores: s.chores, ToolErrors: s.failed}
	ended.Usage, ended.Cost = s.used()
	if s.result != nil {
		if !s.result.Failed {
			s.claims.Write(s.result.Text)
			s.claims.End()
			if len(bytes.TrimSpace(s.words)) == 0 {
				s.words = []byte(s.result.Text)
			}
		}
	}
	ended.Promises = s.promises()
	ended.Response, _ = s.claims.Response()
	ended.Question = s.claims.Question()
	ended.Words = lastWords(string(s.words))
	return ended
}

// used is what the result says, and of an agent that was ended before it could
// say, what it had told on its way.
func (s *sum) used() (stream.Usage, stream.Cost) {
	used, r := s.spent, s.result
	if r == nil {
		return saneUsage(used.Usage), saneCost(used.Cost)
	}
	partly := r.Usage != (stream.Usage{}) && r.Usage.Tokens() < used.Usage.Tokens() // of one thread among several
	if !partly && (r.Cost.Known || !used.Cost.Known) {
		used.Cost = r.Cost
	}
	if !partly && (r.Usage != stream.Usage{} || !r.Failed) {
		used.Usage = r.Usage
	}
	return saneUsage(used.Usage), saneCost(used.Cost)
}

// promises are those made in tags, and the tags listened for that stood alone.
func (s *sum) promises() []string {
	made := s.claims.Promises()
	for _, tag := range s.tags {
		if s.claims.Tag(tag) && !slices.Contains(made, tag) {
			made = append(made, tag)
		}
	}
	return made
}

// lastWords is the end of s. A cut may have left half a rune in front.
func lastWords(s string) string {
	runes := []rune(strings.TrimSpace(strings.ToValidUTF8(s, "")))
	if len(runes) <= maxWords {
		return string(runes)
	}
	return "…" + string(runes[len(runes)-maxWords+1:])
}

// maxWords is how many runes of an agent's last words are kept.
const maxWords = 2000

// An agent's program says what it spent, and it may lie: a negative sum would
// grow its budget, and an endless one could not be written down.
const (
	mostTokens  = 1_000_000_000_000
	mostDollars = 1_000_000
)

func saneUsage(u stream.Usage) stream.Usage {
	return stream.Usage{
		Input:      sane(u.Input),
		Output:     sane(u.Output),
		CacheRead:  sane(u.CacheRead),
		CacheWrite: sane(u.CacheWrite),
		CacheHour:  sane(u.CacheHour),
	}
}

func sane(tokens int64) int64 { return min(max(tokens, 0), mostTokens) }

func saneCost(c stream.Cost) stream.Cost {
	if !c.Known || math.IsNaN(c.USD) || c.USD < 0 {
		return stream.Cost{}
	}
	return stream.Cost{USD: min(c.USD, mostDollars), Known: true}
}
