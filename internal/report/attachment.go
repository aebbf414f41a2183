package report

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// fold is a text that stands folded on the page.
type fold struct {
	Title  string
	Digest string // the beginning of the whole file's
	Gone   string // why there is no text
	Diff   []change
	Calls  []call
	excerpt
}

// change is a line of a diff.
type change struct {
	Kind string // add, del, at, or none
	Text string
}

// call is a tool that an agent used.
type call struct {
	Name   string
	Input  string
	Output string
	Failed bool
	Open   bool // it never ended
}

// lost is said of a file that is not what the journal says, or not there.
const lost = "the file is gone or was changed"

// kept reads a file that the journal names.
func (s Source) kept(at journal.Attachment) (string, bool) {
	if s.Read == nil || at.Path == "" {
		return "", false
	}
	text, err := s.Read(at.Path, at.Digest)
	if err != nil {
		return "", false
	}
	return s.hidden(text), true
}

// prompt is what an agent was asked.
func (s Source) prompt(at journal.Attachment, room int) fold {
	folded := fold{Title: "Prompt", Digest: brief(at.Digest)}
	text, is := s.kept(at)
	if !is {
		folded.Gone = lost
		return folded
	}
	folded.excerpt = cut(text, room, start)
	return folded
}

// log is what a check said; where its file is gone, what the journal has of it.
func (s Source) log(check journal.CheckEnded, room int) fold {
	folded := fold{Title: check.Name, Digest: brief(check.Digest)}
	text, is := s.kept(journal.Attachment{Path: check.Log, Digest: check.Digest})
	if !is {
		text = check.Excerpt
	}
	folded.excerpt = cut(text, room, ending)
	if !is && check.Log != "" {
		folded.Left = strings.TrimPrefix(folded.Left+"; the whole file is gone or was changed", "; ")
	}
	return folded
}

// diff is what an iteration changed.
func (s Source) diff(taken journal.CommitsTaken, room int) fold {
	folded := fold{Title: "Diff"}
	if s.Diff == nil {
		folded.Gone = "not looked for"
		return folded
	}
	text, more, err := s.Diff(taken.From, taken.To)
	if err != nil {
		folded.Gone = "the commits are not here"
		return folded
	}
	folded.excerpt = cut(s.hidden(text), room, start)
	shown, left := few(slices.Collect(strings.Lines(folded.Text)), room, markupOfLine)
	for _, line := range shown {
		folded.Diff = append(folded.Diff, change{kind(line), line})
	}
	if left > 0 || more && folded.Left == "" {
		folded.Left = "more left out"
	}
	return folded
}

// What stands around a line of a diff, a tool call and an item of a list.
const (
	markupOfLine = 36
	markupOfCall = 200
	markupOfItem = 40
)

func kind(line string) string {
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

// voice is what is kept of an agent's work.
type voice struct {
	by         string // the agent; empty: the run's own
	transcript journal.Attachment
	words      string // its last ones, where there is no transcript
}

// opinion is what another agent said and did that gave one.
func (s Source) opinion(reviewed journal.StoryReviewed, room int) []fold {
	words, tools := s.heard(voice{by: reviewed.By, transcript: reviewed.Transcript}, room)
	words.Title, tools.Title = "Second opinion of "+oneLine(s.hidden(reviewed.By), 60)+": words", "Second opinion: tools"
	return []fold{words, tools}
}

// heard is what an agent said and did, from its transcript.
func (s Source) heard(agent voice, room int) (words, tools fold) {
	words, tools = fold{Title: "Words"}, fold{Title: "Tools", Digest: brief(agent.transcript.Digest)}
	text, is := s.kept(agent.transcript)
	if !is || s.Items == nil {
		words.excerpt, tools.Gone = cut(agent.words, room, ending), lost
		return words, tools
	}
	var all []string
	var calls []call
	at := map[string]int{} // calls that have not ended
	for _, item := range s.Items(agent.by, text) {
		switch i := item.(type) { //nolint:gochecksumtype // the others are no words and no tools
		case stream.Text:
			all = append(all, strings.TrimSpace(s.hidden(i.Text)))
		case stream.ToolStart:
			at[i.ID] = len(calls)
			calls = append(calls, call{Name: oneLine(s.hidden(i.Name), 60), Input: oneLine(s.hidden(i.Input), mostInput), Open: true})
		case stream.ToolEnd:
			if n, known := at[i.ID]; known {
				calls[n].Output, calls[n].Failed, calls[n].Open = s.hidden(i.Output), i.Failed, false
				delete(at, i.ID)
			}
		}
	}
	words.excerpt = cut(strings.Join(all, "\n\n"), room, ending)
	tools.Calls, tools.Left = newest(calls, room)
	return words, tools
}

// What is shown of one tool call at most.
const (
	mostInput  = 300
	mostOutput = 400
)

// newest are as many of calls as there is room for: the last ones, since that
// is where an agent ended up.
func newest(calls []call, room int) (shown []call, left string) {
	for first := len(calls); first > 0; first-- {
		c := &calls[first-1]
		c.Output = cut(c.Output, mostOutput, start).Text
		if room -= takes(c.Name+c.Input+c.Output) + markupOfCall; room < 0 {
			return calls[first:], count(first, "earlier call") + " left out"
		}
	}
	return calls, ""
}

// brief is enough of a digest to compare by eye.
func brief(digest string) string { return digest[:min(len(digest), 12)] }
