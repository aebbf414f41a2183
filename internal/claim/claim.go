// Package claim finds an agent's statements about its own work in streamed
// text: a promise, a response, a question, a completion tag. Package verdict
// decides whether to believe them.
package claim

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
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
	others   int // of the promises that were not asked for
	response string
	answered bool
	question string

	line    string // the end of the line under way
	cut     bool   // its beginning is gone
	longest int    // of the promises that count
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

// add keeps so much of a long line that the longest claim is in it whole, tags and all.
func (s *Scanner) add(part string) {
	keep := max(MaxResponse, s.longest) + len("<response></response>")
	for part != "" {
		n := min(len(part), keep)
		s.line += part[:n]
		part = part[n:]
		if len(s.line) >= 2*keep {
			s.scan()
			s.line, s.cut = s.line[len(s.line)-keep:], true
		}
	}
}

// End says that a message is over, and with it its last line.
func (s *Scanner) End() {
	s.scan()
	if alone := strings.Trim(s.line, " \t\r\v\f"); !s.cut && slices.Contains(s.wanted, alone) {
		s.tag(alone)
	}
	s.line, s.cut = "", false
}

var (
	response = pattern.Of(`(?i)<response>(.*?)</response>`)
	question = pattern.Of(`(?i)<question>(.*?)</question>`)
)

// scan looks for whole claims. Finding one twice changes nothing.
func (s *Scanner) scan() {
	if !strings.Contains(s.line, "</") {
		return
	}
	for text := s.line; ; {
		before, rest, found := strings.Cut(text, "</promise>")
		if !found {
			break
		}
		// The last opening counts: "say <promise>…" is not yet a promise.
		if i := strings.LastIndex(before, "<promise>"); i >= 0 {
			s.promise(before[i+len("<promise>"):])
		}
		text = rest
	}
	if !s.answered {
		s.response, s.answered = between(response, s.line)
	}
	if s.question == "" {
		s.question, _ = between(question, s.line)
		s.question = strings.TrimSpace(s.question)
	}
}

// between returns what stands between the first two tags that are not too far apart.
func between(tags *pattern.Pattern, text string) (string, bool) {
	for {
		at := tags.FindStringSubmatchIndex(text)
		switch {
		case at == nil:
			return "", false
		case at[3]-at[2] <= MaxResponse:
			return text[at[2]:at[3]], true
		}
		text = text[at[3]-MaxResponse-len("<response>"):] // all openings before that are too far away
	}
}

// Promises returns the different promises <promise>X</promise> in order. X is exact, and case counts.
func (s *Scanner) Promises() []string { return slices.Clone(s.promises) }

// Response returns what the first <response>…</response> holds. The tags may be in any case.
func (s *Scanner) Response() (string, bool) { return s.response, s.answered }

// Question returns what the first <question>…</question> asks of people, if it is not empty.
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
	if words == "" || slices.Contains(s.promises, words) || !wanted && (len(words) > MaxPromise || s.others == MaxPromises) {
		return
	}
	if !wanted {
		s.others++
	}
	s.promises = append(s.promises, words)
}
