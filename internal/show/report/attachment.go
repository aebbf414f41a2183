package report

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type foldedText struct {
	Title   string
	Missing string // why there is no text
	Diff    []diffLine
	Calls   []toolCall
	excerpt
}

type diffLine struct {
	Kind string // add, del, at, or none
	Text string
}

type toolCall struct {
	Name   string
	Input  string
	Output string
	Failed bool
	Open   bool // it has no end
}

// missingText is shown for a file that does not exist or differs from the journal's digest.
const missingText = "the file is missing or was changed"

// readFile returns a file that the journal names.
func (s Source) readFile(at journal.Attachment) (string, bool) {
	if at.Path == "" {
		return "", false
	}
	text, err := s.Read(at.Path, at.Digest)
	return text, err == nil
}

func (s Source) promptText(at journal.Attachment) foldedText {
	text, ok := s.readFile(at)
	if !ok {
		return foldedText{Title: "Prompt", Missing: missingText}
	}
	return foldedText{Title: "Prompt", excerpt: s.firstPart(text, s.limit)}
}

// checkLog returns the output of a check, or the excerpt in the journal if the file is missing.
func (s Source) checkLog(check journal.CheckEnded, limit int) foldedText {
	folded := foldedText{Title: check.Name}
	text, ok := s.readFile(journal.Attachment{Path: check.Log, Digest: check.Digest})
	if !ok {
		text = check.Excerpt
	}
	folded.excerpt = s.lastPart(text, limit)
	if names := check.Tests.Failing(); len(names) > 0 {
		folded.Text = "failed: " + s.line(check.Tests.FailureList(), 500) + "\n\n" + folded.Text
	}
	if !ok && check.Log != "" {
		folded.Left = strings.TrimPrefix(folded.Left+"; the whole file is missing or was changed", "; ")
	}
	return folded
}

func (s Source) commitDiff(taken journal.CommitsTaken) foldedText {
	if s.Diff == nil {
		return foldedText{Title: "Diff", Missing: "the repository is not available"}
	}
	text, more, err := s.Diff(taken.From, taken.To)
	if err != nil {
		return foldedText{Title: "Diff", Missing: "the commits are not in the repository"}
	}
	folded := foldedText{Title: "Diff", excerpt: s.firstPart(text, s.limit)}
	for line := range strings.Lines(folded.Text) {
		folded.Diff = append(folded.Diff, diffLine{diffKind(line), line})
	}
	if more && folded.Left == "" {
		folded.Left = "more left out"
	}
	return folded
}

func diffKind(line string) string {
	switch {
	case strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return "file"
	case strings.HasPrefix(line, "@@"):
		return "at"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}

// transcriptTexts returns the agent's text and its tool calls. Without the transcript, it returns the last words.
func (s Source) transcriptTexts(e journal.AgentEnded) []foldedText {
	words := foldedText{Title: "What the agent said"}
	tools := foldedText{Title: "Tool calls"}
	text, ok := s.readFile(e.Transcript)
	if !ok {
		words.excerpt = s.lastPart(e.Words, s.limit)
		tools.Missing = missingText
		return []foldedText{words, tools}
	}
	var all []string
	var calls []toolCall
	open := map[string]int{}                     // calls that have not ended
	for _, item := range s.Items(s.Hide(text)) { // which may cut texts, within a secret
		switch i := item.(type) { //nolint:gochecksumtype // the others are neither text nor tool calls
		case stream.Text:
			all = append(all, strings.TrimSpace(i.Text))
		case stream.ToolStart:
			open[i.ID] = len(calls)
			calls = append(calls, toolCall{Name: i.Name, Input: i.Input, Open: true})
		case stream.ToolEnd:
			if n, ok := open[i.ID]; ok {
				calls[n].Output = i.Output
				calls[n].Failed = i.Failed
				calls[n].Open = false
				delete(open, i.ID)
			}
		}
	}
	words.excerpt = s.lastPart(strings.Join(all, "\n\n"), s.limit)
	// The last calls show how the agent ended.
	first := max(len(calls)-s.limit/200-1, 0)
	tools.Calls = calls[first:]
	if first > 0 {
		tools.Left = view.Plural(first, "earlier call") + " left out"
	}
	for n, call := range tools.Calls {
		tools.Calls[n].Name = s.line(call.Name, 60)
		tools.Calls[n].Input = s.line(call.Input, 300)
		tools.Calls[n].Output = s.firstPart(call.Output, min(s.limit, 400)).Text
	}
	return []foldedText{words, tools}
}
