// Package recorded reads from a run's folder what its report page shows.
package recorded

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Files are what a run recorded.
type Files struct {
	Folder workspace.Folder // in which the logs of checks lie
	Home   workspace.Run
	Code   *git.Trusted // nil: there are no diffs
	Hide   func(text string) string

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
		Entries: entries, Abandoned: f.Abandoned, Hide: f.Hide, Read: f.read,
		Items: func(transcript string) []stream.Item { return parseTranscript(run.Policy.Agent, transcript) },
	}
	if f.Code != nil {
		source.Diff = func(from, to string) (string, bool, error) {
			return f.Code.Diff(ctx, git.Span{From: from, To: to}, maxDiff)
		}
	}
	return source, nil
}

const maxDiff = 64 << 10

// read finds logs of checks in the project's folder, other files beside the journal.
func (f Files) read(name, digest string) (string, error) {
	if within, is := strings.CutPrefix(filepath.ToSlash(name), ".ralph/"); is {
		return f.Folder.Read(filepath.FromSlash(within), digest)
	}
	return workspace.Folder{Path: f.Home.Path}.Read(name, digest)
}

// Decoder returns what reads the transcript of an agent, or nil for an unknown agent.
func Decoder(name string) agent.Decoder {
	adapter, err := agent.Pick(name, agent.Options{Command: "-", Script: "-", Self: "-"})
	if err != nil || adapter.Decoder == nil {
		return nil
	}
	return adapter.Decoder(agent.Order{})
}

func parseTranscript(by, transcript string) []stream.Item {
	decoder := Decoder(by)
	if decoder == nil {
		return nil
	}
	var items []stream.Item
	for line := range strings.Lines(transcript) {
		items = append(items, decoder.Line([]byte(strings.TrimSuffix(line, "\n")))...)
	}
	return append(items, decoder.End()...)
}
