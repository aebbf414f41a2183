// Package report makes a self-contained HTML page about a run: the texts of its comment and pull request, the
// failures, time and cost, and the prompt, text and changes of each iteration. It is a function of the journal and the
// files beside it. It shows the agent's output only as text.
package report

import (
	"bytes"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Source has the data for a page.
type Source struct {
	Entries   []journal.Entry
	Abandoned bool // the journal has no end, but no process is running

	// Read reads a file that the journal names, with that digest.
	Read func(name, digest string) (string, error)
	// Diff returns the changes between two commits; nil: there is no repository.
	Diff  func(from, to string) (text string, cut bool, err error)
	Items func(transcript string) []stream.Item // of an agent's transcript
	Hide  func(text string) string              // removes secrets

	limit int // characters of a text
}

const (
	maxPage = 1 << 20  // bytes; a page has less
	maxText = 6 << 10  // characters of a text
	minText = 1 << 4   // with which every page is small enough
	maxAll  = 64 << 10 // characters of the texts of one kind, about
)

// HTML returns the page for a browser. It shortens all texts until the page is small enough.
func (s Source) HTML() ([]byte, error) {
	segments, run := s.segments(s.entries())
	for s.limit = min(maxText, maxAll/min(len(segments), maxIterations)); ; s.limit /= 2 {
		content := s.page(segments, run, true)
		text, err := content.markdown()
		if err != nil {
			return nil, err
		}
		content.Text = render(text)
		content.Change = render(changeText(run))
		var out bytes.Buffer
		if err := htmlTemplates().ExecuteTemplate(&out, "report.html", content); err != nil {
			return nil, fmt.Errorf("write the page: %w", err)
		}
		page := s.finished(out.String())
		if len(page) < maxPage || s.limit <= minText {
			return []byte(page), nil
		}
	}
}

// Markdown returns the text at the top of the page, for a comment, or for a terminal that escapes each line.
func (s Source) Markdown() ([]byte, error) {
	s.limit = maxText
	segments, run := s.segments(s.entries())
	text, err := s.page(segments, run, false).markdown()
	if err != nil {
		return nil, err
	}
	return []byte(s.finished(text)), nil
}

// finished hides secrets once more: what parted one may be gone from the page.
func (s Source) finished(page string) string { return s.Hide(clean.EscapeUnprintable(page)) }

// entries returns the entries without secrets: Hide may know more of them than the writer of the journal.
func (s Source) entries() []journal.Entry {
	all := make([]journal.Entry, 0, len(s.Entries))
	for _, entry := range s.Entries {
		all = append(all, journal.Hidden(entry, func(line []byte) []byte { return []byte(s.Hide(string(line))) }))
	}
	return all
}
