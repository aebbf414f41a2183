// Package recorded reads from a run's folder what its report page shows.
package recorded

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/show/report"
)

// Files are what a run recorded.
type Files struct {
	Home workspace.Run
	Code *git.Trusted // nil: there are no diffs
	Hide func(text string) string

	Abandoned bool // no process works on it, though the journal has no end
}

// Source reads the journal. The other files are read when they are needed.
func (f Files) Source(ctx context.Context) (report.Source, error) {
	entries, err := f.Home.Entries()
	if err != nil {
		return report.Source{}, err
	}
	run := journal.Fold(journal.Run{}, entries...)
	source := report.Source{
		Entries:   entries,
		Abandoned: f.Abandoned,
		Hide:      f.Hide,
		Read:      f.read,
		Items:     func(transcript string) []stream.Item { return parseTranscript(run.Policy.Agent, transcript) },
	}
	if f.Code != nil {
		source.Diff = func(from, to string) (string, bool, error) {
			return f.Code.Diff(ctx, git.Span{From: from, To: to}, maxDiff)
		}
	}
	return source, nil
}

const maxDiff = 64 << 10

// read reads a file beside the journal, which names the links to logs of checks.
func (f Files) read(name, digest string) (string, error) {
	return workspace.Folder{Path: f.Home.Path}.Read(filepath.Base(name), digest)
}

func parseTranscript(by, transcript string) []stream.Item {
	adapter, err := agent.Pick(by, agent.Options{Command: "-", Script: "-", Self: "-"})
	if err != nil || adapter.Decoder == nil {
		return nil
	}
	decoder := adapter.Decoder(agent.Order{})
	var items []stream.Item
	for line := range strings.Lines(transcript) {
		items = append(items, decoder.Line([]byte(strings.TrimSuffix(line, "\n")))...)
	}
	return append(items, decoder.End()...)
}
