// Package report makes a self-contained HTML page about a run: the result, the
// failures, time and cost, and the prompt, text and changes of each iteration. It
// is a function of the journal and the files beside it. It shows the agent's output
// only as text.
package report

import (
	"bytes"
	"fmt"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Source has the data for a page. A func may be nil; then the page has less.
type Source struct {
	Entries   []journal.Entry
	Abandoned bool   // the journal has no end, but no process is running
	Exams     []Exam // without entries, the page has only these

	Read  func(name, digest string) (string, error) // reads a file that the journal names, with that digest
	Diff  func(from, to string) (text string, cut bool, err error)
	Items func(by, transcript string) []stream.Item // of an agent's transcript; by is empty for the run's own agent
	Hide  func(text string) string                  // removes secrets
}

// HTML returns the page for a browser.
func (s Source) HTML() ([]byte, error) {
	var out bytes.Buffer
	if err := htmlTemplates().ExecuteTemplate(&out, "report.html", s.page()); err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return []byte(clean.EscapeUnprintable(out.String())), nil
}

// Markdown returns the page for a comment, or for a terminal that escapes each line.
func (s Source) Markdown() (string, error) {
	var out bytes.Buffer
	if err := markdownTemplates().ExecuteTemplate(&out, "report.md", s.page()); err != nil {
		return "", fmt.Errorf("write the page: %w", err)
	}
	return clean.EscapeUnprintable(out.String()), nil
}

func (s Source) hide(text string) string {
	if s.Hide == nil {
		return text
	}
	return s.Hide(text)
}

// entries returns the entries without secrets: Hide may know more of them than the writer of the journal.
func (s Source) entries() []journal.Entry {
	if s.Hide == nil {
		return s.Entries
	}
	all := make([]journal.Entry, 0, len(s.Entries))
	for _, entry := range s.Entries {
		all = append(all, journal.Hidden(entry, func(line []byte) []byte { return []byte(s.Hide(string(line))) }))
	}
	return all
}
