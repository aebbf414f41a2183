package agent

import (
	"bytes"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// claudeSessions are the files in which Claude Code notes the messages of a session, and of its sub-agents, with all of
// their usage. The lines that it prints have the output with which a message began. What is in files alone does not
// count: a session may go on with an old one.
type claudeSessions struct {
	Decoder
	dir string // of its projects; empty: unknown

	mu      sync.Mutex // for what follows, and what it prints
	printed *claudeDecoder

	project string           // that has the session
	read    map[string]int64 // up to here, by file
}

// Line reads a line that it prints.
func (s *claudeSessions) Line(line []byte) []stream.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Decoder.Line(line)
}

// Follow reads what was added, and gives what was used so far where that has changed.
func (s *claudeSessions) Follow() []stream.Item {
	s.mu.Lock()
	session := s.printed.session
	s.mu.Unlock()
	if s.dir == "" || session == "" || strings.ContainsAny(session, `/\`) {
		return nil
	}
	left := mostTime
	for _, path := range s.findFiles(session, &left) {
		if _, known := s.read[path]; known || len(s.read) < maxRecent { // an agent can make and rename files without number
			left.Spend(func() { s.readNewLines(path) })
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.printed.meter()
}

func (s *claudeSessions) readNewLines(path string) {
	read := s.read[path]
	lines := newLines(path, &read)
	s.read[path] = read
	for line := range bytes.Lines(lines) {
		if entry, ok := ReadClaudeEntry(line); ok && entry.Type == "assistant" {
			s.mu.Lock()
			s.printed.spent.whole(entry.Message.parts(s.printed.modelOf(entry.Message.Model, entry.Side)))
			s.mu.Unlock()
		}
	}
}

func (s *claudeSessions) findFiles(session string, patience *untrusted.Patience) []string {
	if s.project == "" && !s.findProject(session, patience) {
		return nil
	}
	own := []string{filepath.Join(s.project, session+".jsonl")}
	return append(own, subfolders([]string{filepath.Join(s.project, session, "subagents")}, patience)...)
}

func (s *claudeSessions) findProject(session string, patience *untrusted.Patience) bool {
	for _, project := range subfolders([]string{s.dir}, patience) {
		patience.Spend(func() {
			if file, err := untrusted.Open(filepath.Join(project, session+".jsonl")); err == nil {
				_ = file.Close() // it was not even read
				s.project, s.read = project, map[string]int64{}
			}
		})
	}
	return s.project != ""
}
