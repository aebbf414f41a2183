package job

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/report"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Page is the input for the report page of a run.
type Page struct {
	Folder workspace.Folder // in which the logs of checks lie
	Home   workspace.Run
	Code   *git.Trusted // nil: there are no diffs
	Hide   func(text string) string

	Abandoned bool // no process works on it, though the journal has no end
}

// Source reads the journal. The other files are read when they are needed.
func (p Page) Source(ctx context.Context) (report.Source, error) {
	entries, err := p.Home.Entries()
	if err != nil {
		return report.Source{}, err
	}
	run := journal.Fold(journal.Run{}, entries...)
	source := report.Source{
		Entries: entries, Abandoned: p.Abandoned, Hide: p.Hide, Read: p.read,
		Items: func(transcript string) []stream.Item { return parseTranscript(run.Policy.Agent, transcript) },
	}
	if p.Code != nil {
		source.Diff = func(from, to string) (string, bool, error) {
			return p.Code.Diff(ctx, git.Span{From: from, To: to}, maxDiff)
		}
	}
	return source, nil
}

const maxDiff = 64 << 10

// read finds logs of checks in the project's folder, other files beside the journal.
func (p Page) read(name, digest string) (string, error) {
	if within, is := strings.CutPrefix(filepath.ToSlash(name), ".ralph/"); is {
		return p.Folder.Read(filepath.FromSlash(within), digest)
	}
	return workspace.Folder{Path: p.Home.Path}.Read(name, digest)
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

// writePage writes the report page if it is wanted. A cancelled job has no time for it.
func (s *activeRun) writePage(ctx context.Context) {
	run := s.Run()
	if !s.PageWanted || run.Stop == nil || run.Stop.Reason == policy.Cancelled || s.isAborted() {
		return
	}
	source, err := Page{Folder: s.Folder, Home: s.home, Code: s.trusted, Hide: s.redacted}.Source(context.WithoutCancel(ctx))
	var made []byte
	if err == nil {
		made, err = source.HTML()
	}
	if err == nil {
		err = s.home.WriteFile(workspace.PageFile, made)
	}
	if err != nil {
		s.Log("could not write " + workspace.PageFile + ": " + err.Error())
	}
}

// ExistingFile returns the path of a run's file, or nothing if there is none.
func ExistingFile(home workspace.Run, name string) string {
	if home.ID == "" || !home.Exists(name) {
		return ""
	}
	return home.File(name)
}
