package agent

import (
	"bytes"
	"path/filepath"
	"slices"
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
	dir string // of its projects

	mu      sync.Mutex // for what follows, and what it prints
	printed *claudeDecoder

	project string // that has the session
	files   map[string]*followed
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
	if session == "" || strings.ContainsAny(session, `/\`) {
		return nil
	}
	left := mostTime
	for _, path := range s.findFiles(session, &left) {
		file := s.files[path]
		if file == nil {
			file = &followed{}
			s.files[path] = file
		}
		if len(s.files) > maxRecent { // an agent can make and rename files without number
			break
		}
		left.Spend(func() { s.readNewLines(file, path) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed.unfiled.read()
	return s.printed.meter()
}

// End returns what is missing of the result.
func (s *claudeSessions) End() []stream.Item {
	return lastWords(s.Decoder, s, s.printed.unfiled.ended)
}

func (s *claudeSessions) readNewLines(file *followed, path string) {
	for line := range bytes.Lines(file.newLines(path)) {
		if entry, ok := ReadClaudeEntry(line); ok && entry.Type == "assistant" {
			s.mu.Lock()
			s.printed.unfiled.tell(entry.Message.ID)
			s.printed.spent.whole(entry.Message.parts(s.printed.modelOf(entry.Message.Model, entry.Side)))
			s.mu.Unlock()
		}
	}
}

// unfiled are messages that Claude Code printed and that no file has told yet, with how often the files were read since.
// They may be elsewhere, full, closed, switched off or removed, now or by an earlier turn.
type unfiled struct {
	waiting recent[int]
	told    recent[bool]
	late    bool // the files come from another machine
}

const (
	unfiledMessages = 3
	unfiledTimes    = 40 // 20 seconds each, or less of more: it writes some time after it prints
	unfiledAtEnd    = 4
)

func (u *unfiled) print(id string) {
	if _, is := u.waiting[id]; !is && !u.told[id] {
		u.waiting.put(id, 0)
	}
}

func (u *unfiled) tell(id string) {
	u.told.put(id, true)
	delete(u.waiting, id)
}

func (u *unfiled) read() {
	for id := range u.waiting {
		u.waiting[id]++
	}
}

// ended notes that Claude Code was killed: its files will tell no more.
func (u *unfiled) ended() {
	for id, times := range u.waiting {
		if times >= unfiledAtEnd {
			u.waiting[id] = unfiledTimes
		}
	}
}

// areLost reports whether it is not known any more what the agent uses.
func (u *unfiled) areLost() bool {
	waited := 0
	for _, times := range u.waiting {
		waited += times
	}
	return len(u.waiting) >= unfiledMessages && waited > unfiledMessages*unfiledTimes && !u.late
}

func (s *claudeSessions) findFiles(session string, patience *untrusted.Patience) []string {
	name := session + ".jsonl"
	if !isThere(s.project, name) && !s.findProject(name, patience) { // it moves a session to another worktree's project
		return nil
	}
	subs := subfolders([]string{filepath.Join(s.project, session, "subagents")}, patience)
	subs = slices.DeleteFunc(subs, func(path string) bool { return filepath.Ext(path) != ".jsonl" }) // others it replaces
	return append(subs, filepath.Join(s.project, name))
}

func (s *claudeSessions) findProject(name string, patience *untrusted.Patience) (found bool) {
	for _, project := range subfolders([]string{s.dir}, patience) {
		patience.Spend(func() {
			if isThere(project, name) {
				s.project, s.files, found = project, map[string]*followed{}, true // what is read again counts once
			}
		})
	}
	return found
}

func isThere(folder, name string) bool {
	if folder == "" {
		return false
	}
	file, err := untrusted.Open(filepath.Join(folder, name))
	if err == nil {
		_ = file.Close() // it was not even read
	}
	return err == nil
}
