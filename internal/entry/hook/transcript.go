package hook

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

func contextTokens(e agent.ClaudeEntry) int64 {
	u := e.Message.Usage
	return max(u.Input, 0) + max(u.CacheRead, 0) + max(u.CacheWrite, 0)
}

// parseLine parses a line. It skips useless ones, most of which are long.
func parseLine(line []byte) (agent.ClaudeEntry, bool) {
	if !bytes.Contains(line, []byte(`"assistant"`)) && !bytes.Contains(line, []byte(`"compact_boundary"`)) {
		return agent.ClaudeEntry{}, false
	}
	return agent.ReadClaudeEntry(line)
}

func openTranscript(path string) (*os.File, int64, error) {
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

// readContextSize returns the model's newest count of the context's tokens, or, if there is
// none, the size of the transcript. After a compaction, both are 0. It reads more and more
// of the end of the file: a picture can have megabytes.
func readContextSize(path string) (tokens, size int64, err error) {
	file, size, err := openTranscript(path)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close() //nolint:errcheck // only read
	for _, limit := range []int64{64 << 10, 1 << 20, 8 << 20, 64 << 20} {
		from := max(size-limit, 0)
		tail := make([]byte, size-from)
		n, err := file.ReadAt(tail, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		tail = tail[:n]
		if from > 0 { // the first line is incomplete
			_, tail, _ = bytes.Cut(tail, []byte{'\n'})
		}
		if tokens, found := lastContextTokens(tail); found {
			return tokens, 0, nil
		}
	}
	return 0, size, nil
}

// lastContextTokens returns the newest count in the lines. Lines before a compaction do not count.
func lastContextTokens(lines []byte) (tokens int64, found bool) {
	for len(lines) > 0 {
		lines = bytes.TrimSuffix(lines, []byte{'\n'})
		start := bytes.LastIndexByte(lines, '\n') + 1
		entry, ok := parseLine(lines[start:])
		lines = lines[:start]
		if !ok {
			continue
		}
		if entry.Subtype == "compact_boundary" {
			return 0, true
		}
		if tokens := contextTokens(entry); entry.IsOwnModel() && tokens > 0 {
			return tokens, true
		}
	}
	return 0, false
}

type agentWork struct {
	texts     []string
	tools     int
	todoCalls int   // tool calls that only update its todo list
	end       int64 // offset of the end of the part
}

// transcriptPart is a part of a transcript: from an offset, or 0 if that is unknown, and not before the time began.
// Text before the time judged was judged before, as the transcript is written with a delay.
type transcriptPart struct {
	path   string
	from   int64
	began  time.Time
	judged time.Time
}

func (p transcriptPart) read() (agentWork, error) {
	file, size, err := openTranscript(p.path)
	if err != nil {
		return agentWork{}, err
	}
	defer file.Close() //nolint:errcheck // only read
	from := p.from
	if from > size {
		from = 0 // the file was replaced
	}
	work := agentWork{end: from}
	reader := bufio.NewReaderSize(io.NewSectionReader(file, from, size-from), 256<<10)
	called := map[string]bool{}
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil { // an incomplete last line is read next time
			return work, nil
		}
		work.end += int64(len(line))
		entry, ok := parseLine(line)
		if !ok || !entry.IsOwnModel() || entry.Timestamp.Before(p.began) {
			continue
		}
		work.add(entry, !entry.Timestamp.Before(p.judged), called)
	}
}

func (w *agentWork) add(e agent.ClaudeEntry, fresh bool, called map[string]bool) {
	for _, b := range e.Message.Content {
		switch {
		case b.Type == "text" && fresh:
			w.texts = append(w.texts, b.Text)
		case strings.HasSuffix(b.Type, "tool_use") && (b.ID == "" || !called[b.ID]):
			called[b.ID] = true
			w.tools++
			if b.Name == "TodoWrite" {
				w.todoCalls++
			}
		}
	}
}

// endsWith reports whether the last text is the end of a message.
func (w agentWork) endsWith(message string) bool {
	message = strings.TrimSpace(message)
	if message == "" {
		return true
	}
	if len(w.texts) == 0 {
		return false
	}
	last := strings.TrimSpace(w.texts[len(w.texts)-1])
	return last != "" && strings.HasSuffix(message, last)
}

// The agent CLI writes its transcript with a delay. Tool calls count only if they are in it.
const (
	maxDelay     = 3 * time.Second
	pollInterval = 10 * time.Millisecond
)

// readUntil reads the part until it has the agent's last message, for at most maxDelay.
func (p transcriptPart) readUntil(last string, pause func(time.Duration)) (agentWork, error) {
	for waited := time.Duration(0); ; waited += pollInterval {
		work, err := p.read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return work, err
		}
		if err == nil && work.endsWith(last) {
			return work, nil
		}
		if waited >= maxDelay {
			return work, err
		}
		pause(pollInterval)
	}
}
