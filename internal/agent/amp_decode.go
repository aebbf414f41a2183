package agent

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/stream"
)

// ampLine is a line of amp --stream-json: Claude Code's, with a few keys of
// its own.
type ampLine struct {
	claudeLine
	Session string `json:"session_id"`
}

// ampDecoder reads Amp's lines, words and tools as Claude Code's are read.
// What differs is usage, whose messages have no id, and how errors end.
type ampDecoder struct {
	like claudeDecoder
	summed
}

// summed is a stream of which the decoder sums up what it spent.
type summed struct {
	spent  stream.Usage
	spoke  bool
	closed bool
}

// End stands in for the result line of an agent that was killed.
func (s *summed) End() []stream.Item {
	if s.closed || !s.spoke {
		return nil
	}
	return []stream.Item{stream.Result{Failed: true, Reason: noResult, Usage: s.spent}}
}

// Line reads one line. What it does not know passes silently, so that a newer
// CLI does no harm; what is no JSON is shown.
func (d *ampDecoder) Line(line []byte) []stream.Item {
	parsed, ok := readLine[ampLine](line)
	if !ok {
		return raw(line)
	}
	d.spoke = true
	switch parsed.Type {
	case "system":
		if parsed.Subtype == "init" {
			return []stream.Item{stream.Progress{Text: "thread " + short(parsed.Session)}}
		}
	case "assistant":
		return append(d.like.assistant(parsed.claudeLine), d.meter(parsed.Message.Usage)...)
	case "user":
		return d.like.user(parsed.Message.Content)
	case "result":
		d.closed = true
		return []stream.Item{d.result(parsed.claudeLine)}
	}
	return nil
}

// meter is what the messages so far come to, when that has changed.
func (d *ampDecoder) meter(u claudeUsage) []stream.Item {
	if u == (claudeUsage{}) {
		return nil
	}
	d.spent = d.spent.Plus(ampUsage(u))
	return []stream.Item{stream.Spent{Usage: d.spent}}
}

func (d *ampDecoder) result(l claudeLine) stream.Result {
	result := l.result()
	result.Failed = result.Failed || strings.HasPrefix(l.Subtype, "error")
	if result.Text == "" {
		result.Text = l.Error
	}
	if result.Usage = ampUsage(l.Usage); result.Usage == (stream.Usage{}) {
		result.Usage = d.spent // not every version sums up
	}
	return result
}

// ampUsage counts the cached tokens once: Amp's input holds them, too. An
// input smaller than they are is of the other kind, as Claude Code gives it.
func ampUsage(u claudeUsage) stream.Usage {
	if fresh := u.Input - u.CacheRead - u.CacheWrite; fresh >= 0 {
		u.Input = fresh
	}
	return u.plain()
}
