// Package report draws a run as one self-contained HTML page: the result, the
// failures, where time and money went, and each iteration's prompt, words and
// work. It is a function of the journal and the files beside it. It treats
// everything that an agent left as text.
package report

import (
	"bytes"
	"fmt"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Source is what a page is made from. Each of its funcs may be nil: the page then
// goes without.
type Source struct {
	Entries   []journal.Entry
	Abandoned bool   // no process works on it, though the journal has no end
	Exams     []Exam // without entries, the page has nothing else

	Read  func(name, digest string) (string, error) // a file that the journal names, as it was then
	Diff  func(from, to string) (text string, cut bool, err error)
	Items func(by, transcript string) []stream.Item // of an agent; empty: the run's own
	Hide  func(text string) string                  // takes secrets out
}

// HTML is the run as a page for a browser.
func (s Source) HTML() ([]byte, error) {
	var out bytes.Buffer
	if err := htmlTemplates().ExecuteTemplate(&out, "report.html", s.page()); err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return []byte(escapeInvisible(out.String())), nil
}

// Markdown is the run for a comment, or for a terminal that shows each line
// harmless.
func (s Source) Markdown() (string, error) {
	var out bytes.Buffer
	if err := markdownTemplates().ExecuteTemplate(&out, "report.md", s.page()); err != nil {
		return "", fmt.Errorf("write the page: %w", err)
	}
	return escapeInvisible(out.String()), nil
}

// hide is text without secrets.
func (s Source) hide(text string) string {
	if s.Hide == nil {
		return text
	}
	return s.Hide(text)
}

// entries are those of the journal. Most secrets were taken out of it when it
// was written; a program of today may know more.
func (s Source) entries() []journal.Entry {
	all := make([]journal.Entry, 0, len(s.Entries))
	for _, entry := range s.Entries {
		all = append(all, s.hideEntry(entry))
	}
	return all
}

func (s Source) hideEntry(entry journal.Entry) journal.Entry {
	if s.Hide == nil {
		return entry
	}
	line, err := journal.Encode(entry)
	if err != nil {
		return entry
	}
	safe, err := journal.Decode([]byte(s.Hide(string(line))))
	if err != nil { // what is hidden left no event: nothing of it is shown
		safe = journal.Entry{Seq: entry.Seq, At: entry.At, Event: journal.Noted{What: "an event is not shown because it holds a secret"}}
	}
	return safe
}
