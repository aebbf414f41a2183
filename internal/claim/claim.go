// Package claim finds an agent's statements about its own work in streamed
// text: a promise, a response, a question, a completion tag. Package verdict
// decides whether to believe them.
package claim

import (
	"slices"
	"strings"
)

const (
	// MaxPromises is how many different promises are kept. Those that the
	// Scanner was told to look for are found beyond it.
	MaxPromises = 16
	// MaxPromise is how long a promise may be, in bytes; again, those looked
	// for may be longer.
	MaxPromise = 200
	// MaxResponse is how long a response may be, in bytes. A longer one is a
	// text that happens to hold two tags.
	MaxResponse = 4096
)

// Scanner reads an agent's words as they come, cut anywhere, and remembers the
// claims in them. Every claim stands on one line: a promise and a response
// anywhere in it, a bare tag alone. It keeps a few kilobytes, however long the
// text. Ask it after End; before, the line under way has not been looked at.
type Scanner struct {
	wanted   []string // the tags asked for
	tags     []string // those of them that were seen
	promises []string
	response string
	answered bool
	question string

	line    line
	longest int // of the promises that count
}

// New makes a Scanner that looks for these completion tags and promises.
func New(tags ...string) *Scanner {
	s := &Scanner{longest: MaxPromise}
	for _, tag := range tags {
		if tag == "" {
			continue
		}
		s.wanted = append(s.wanted, tag)
		s.longest = max(s.longest, len(tag))
	}
	return s
}

// Write reads the next part of a message.
func (s *Scanner) Write(text string) {
	for {
		part, rest, ended := strings.Cut(text, "\n")
		s.add(part)
		if !ended {
			return
		}
		s.End()
		text = rest
	}
}

// End says that a message is over, and with it its last line.
func (s *Scanner) End() {
	s.scan()
	if alone, ok := s.line.alone(); ok && slices.Contains(s.wanted, alone) {
		s.tag(alone)
	}
	s.line = line{}
}

// Promises are the different promises <promise>X</promise> in order. X is exact, and case counts.
func (s *Scanner) Promises() []string { return slices.Clone(s.promises) }

// Promised says whether <promise>X</promise> was seen for exactly this X.
func (s *Scanner) Promised(promise string) bool { return slices.Contains(s.promises, promise) }

// Response is what the first <response>…</response> holds. The tags may be in any case.
func (s *Scanner) Response() (string, bool) { return s.response, s.answered }

// Question is what the first <question>…</question> asks of people, if it is not empty.
func (s *Scanner) Question() string { return s.question }

// Tag reports whether a tag was promised, or stood alone on a line. "not COMPLETE yet" is no claim.
func (s *Scanner) Tag(tag string) bool { return slices.Contains(s.tags, tag) }

func (s *Scanner) tag(tag string) {
	if !slices.Contains(s.tags, tag) {
		s.tags = append(s.tags, tag)
	}
}

func (s *Scanner) promise(words string) {
	wanted := slices.Contains(s.wanted, words)
	if wanted {
		s.tag(words)
	}
	switch {
	case words == "" || slices.Contains(s.promises, words):
	case wanted, len(words) <= MaxPromise && s.strangers() < MaxPromises:
		s.promises = append(s.promises, words)
	}
}

func (s *Scanner) strangers() int {
	n := 0
	for _, p := range s.promises {
		if !slices.Contains(s.wanted, p) {
			n++
		}
	}
	return n
}
