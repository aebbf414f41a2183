package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// said is a line of a transcript, as far as it is of use here.
type said struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	Side      bool      `json:"isSidechain"` // a helper's, with a context of its own
	APIError  bool      `json:"isApiErrorMessage"`
	Timestamp time.Time `json:"timestamp"`
	Message   struct {
		Model   string `json:"model"`
		Content blocks `json:"content"`
		Usage   struct {
			Input      int64 `json:"input_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

type piece struct {
	Type string `json:"type"`
	Text string `json:"text"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

// blocks is the content of a message: blocks, or only a text.
type blocks []piece

// UnmarshalJSON takes both forms; content that is neither is no content.
func (b *blocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*b = blocks{{Type: "text", Text: text}}
		return nil
	}
	var all []piece
	if json.Unmarshal(data, &all) == nil {
		*b = all
	}
	return nil
}

// synthetic is the model of what the agent's program says in its place.
const synthetic = "<synthetic>"

// own tells that the line is the session's own model speaking.
func (s said) own() bool {
	return s.Type == "assistant" && !s.Side && !s.APIError && s.Message.Model != synthetic
}

func (s said) context() int64 {
	u := s.Message.Usage
	return max(u.Input, 0) + max(u.CacheRead, 0) + max(u.CacheWrite, 0)
}

// parse reads a line, if it can be of use at all: most are not, and are long.
func parse(line []byte) (said, bool) {
	var s said
	if !bytes.Contains(line, []byte(`"assistant"`)) && !bytes.Contains(line, []byte(`"compact_boundary"`)) {
		return s, false
	}
	err := json.Unmarshal(line, &s)
	_, odd := errors.AsType[*json.UnmarshalTypeError](err)
	return s, err == nil || odd
}

func open(path string) (*os.File, int64, error) {
	file, err := untrusted.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", path, err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

type full struct {
	tokens int64 // by the model's own count; 0: it is not known
	size   int64 // of the transcript; 0 where that says nothing
}

// newest is what the newest line of the model says of its context. It reads
// from the end, and mostly not far; behind a few pictures lie megabytes.
func newest(path string) (full, error) {
	file, size, err := open(path)
	if err != nil {
		return full{}, err
	}
	defer file.Close() //nolint:errcheck // only read
	for _, most := range []int64{64 << 10, 1 << 20, 8 << 20, 64 << 20} {
		from := max(size-most, 0)
		tail := make([]byte, size-from)
		if n, err := file.ReadAt(tail, from); err != nil && !errors.Is(err, io.EOF) {
			return full{}, err
		} else if tail = tail[:n]; from > 0 {
			_, tail, _ = bytes.Cut(tail, []byte{'\n'})
		}
		if found, is := last(tail); is || from == 0 {
			if !is {
				found.size = size
			}
			return found, nil
		}
	}
	return full{size: size}, nil
}

// last looks through lines from their end. Before a context was compacted it
// held what it holds no more.
func last(lines []byte) (full, bool) {
	for len(lines) > 0 {
		lines = bytes.TrimSuffix(lines, []byte{'\n'})
		at := bytes.LastIndexByte(lines, '\n') + 1
		s, is := parse(lines[at:])
		switch {
		case is && s.Subtype == "compact_boundary":
			return full{}, true
		case is && s.own() && s.context() > 0:
			return full{tokens: s.context()}, true
		}
		lines = lines[:at]
	}
	return full{}, false
}

// stretch is what an agent did in a part of a session.
type stretch struct {
	texts  []string
	tools  int
	chores int   // of these, calls that only keep its list of things to do
	end    int64 // where the part ends
}

// part is where a stretch lies: from a place in the transcript on, and not
// before a time, as the place may not have been known yet. What was said before
// a later time was judged already: a transcript can be late.
type part struct {
	path   string
	from   int64
	began  time.Time
	judged time.Time
}

func (p part) read() (stretch, error) {
	file, size, err := open(p.path)
	if err != nil {
		return stretch{}, err
	}
	defer file.Close() //nolint:errcheck // only read
	from := p.from
	if from > size {
		from = 0 // it was written anew
	}
	found := stretch{end: from}
	reader := bufio.NewReaderSize(io.NewSectionReader(file, from, size-from), 256<<10)
	called := map[string]bool{}
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil { // the last is still being written, and is read next time
			return found, nil
		}
		found.end += int64(len(line))
		if s, is := parse(line); is && s.own() && !s.Timestamp.Before(p.began) {
			found.take(s.Message.Content, !s.Timestamp.Before(p.judged), called)
		}
	}
}

func (s *stretch) take(content blocks, fresh bool, called map[string]bool) {
	for _, b := range content {
		switch {
		case b.Type == "text" && fresh:
			s.texts = append(s.texts, b.Text)
		case strings.HasSuffix(b.Type, "tool_use") && (b.ID == "" || !called[b.ID]):
			called[b.ID] = true
			s.tools++
			if b.Name == "TodoWrite" {
				s.chores++
			}
		}
	}
}

// ends tells whether the stretch goes on to the message that the agent ended
// with.
func (s stretch) ends(with string) bool {
	with = strings.TrimSpace(with)
	if with == "" {
		return true // nothing to know it by
	}
	n := len(s.texts)
	return n > 0 && strings.HasSuffix(with, strings.TrimSpace(s.texts[n-1])) && strings.TrimSpace(s.texts[n-1]) != ""
}

// The agent's program writes its transcript in its own time, mostly within a
// tenth of a second; a call that is not in it yet would count for nothing.
const (
	late = 3 * time.Second
	look = 10 * time.Millisecond
)

// heard reads the part once it goes on to the agent's last message, or as far
// as it goes when that does not come.
func (p part) heard(last string, pause func(time.Duration)) (stretch, error) {
	for waited := time.Duration(0); ; waited += look {
		found, err := p.read()
		broken := err != nil && !errors.Is(err, fs.ErrNotExist)
		if broken || err == nil && found.ends(last) || waited >= late {
			return found, err
		}
		pause(look)
	}
}
