// Package journal is the record of a run: a closed set of Events, the Run
// they fold into, and the lines they are written as. Append-only; it opens no
// files, judges nothing, and knows nobody above it.
package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Version is the version of the events in this package. A journal of a later
// version is refused, never guessed at.
const Version = 1

// Entry is an Event with its place in the journal.
type Entry struct {
	Seq   int
	At    time.Time
	Event Event
}

// header is what every line begins with.
type header struct {
	V    int       `json:"v"`
	Seq  int       `json:"seq"`
	At   time.Time `json:"at"`
	Type string    `json:"type"`
}

// Encode writes e as its line, newline included.
func Encode(e Entry) ([]byte, error) {
	head, err := json.Marshal(header{Version, e.Seq, e.At.UTC(), e.Event.Type()})
	if err != nil {
		return nil, fmt.Errorf("encode event %d: %w", e.Seq, err)
	}
	body, err := json.Marshal(e.Event)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Event.Type(), err)
	}
	line := head
	if len(body) > len("{}") {
		line = append(head[:len(head)-1], ',')
		line = append(line, body[1:]...)
	}
	return append(line, '\n'), nil
}

// OtherVersion is that an event is not of the version that this program reads.
type OtherVersion struct{ V int }

// Error names both.
func (e *OtherVersion) Error() string {
	return fmt.Sprintf("event has version %d, this program reads %d", e.V, Version)
}

// Decode reads one line.
func Decode(line []byte) (Entry, error) {
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return Entry{}, fmt.Errorf("read event: %w", err)
	}
	if h.V != Version {
		return Entry{}, &OtherVersion{h.V}
	}
	read, known := kinds[h.Type]
	if !known {
		return Entry{}, fmt.Errorf("event has unknown type %q", h.Type)
	}
	event, err := read(line)
	if err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", h.Type, err)
	}
	return Entry{Seq: h.Seq, At: h.At, Event: event}, nil
}

// kinds is the closed set, by name.
var kinds = map[string]func([]byte) (Event, error){
	RunBegan{}.Type():        read[RunBegan],
	Resumed{}.Type():         read[Resumed],
	Noted{}.Type():           read[Noted],
	EgressRefused{}.Type():   read[EgressRefused],
	EgressPassed{}.Type():    read[EgressPassed],
	CheckEnded{}.Type():      read[CheckEnded],
	SetupEnded{}.Type():      read[SetupEnded],
	PlanDrafted{}.Type():     read[PlanDrafted],
	BaselineEnded{}.Type():   read[BaselineEnded],
	IterationBegan{}.Type():  read[IterationBegan],
	AgentEnded{}.Type():      read[AgentEnded],
	PlanRead{}.Type():        read[PlanRead],
	CommitsTaken{}.Type():    read[CommitsTaken],
	ProofEnded{}.Type():      read[ProofEnded],
	StoryGraded{}.Type():     read[StoryGraded],
	ChangeInspected{}.Type(): read[ChangeInspected],
	StoryReviewed{}.Type():   read[StoryReviewed],
	IterationEnded{}.Type():  read[IterationEnded],
	SCMEnded{}.Type():        read[SCMEnded],
	TaskLooked{}.Type():      read[TaskLooked],
	Paused{}.Type():          read[Paused],
	TaskSettled{}.Type():     read[TaskSettled],
	Pushed{}.Type():          read[Pushed],
	PullOpened{}.Type():      read[PullOpened],
	PullReadied{}.Type():     read[PullReadied],
	PublishFailed{}.Type():   read[PublishFailed],
	Joined{}.Type():          read[Joined],
	Branched{}.Type():        read[Branched],
	Packed{}.Type():          read[Packed],
	Signed{}.Type():          read[Signed],
	CommentPosted{}.Type():   read[CommentPosted],
	Shelved{}.Type():         read[Shelved],
	CancelAsked{}.Type():     read[CancelAsked],
	RunStopped{}.Type():      read[RunStopped],
}

func read[E Event](line []byte) (Event, error) {
	var event E
	err := json.Unmarshal(line, &event)
	return event, err
}

// Type is the event's name in the journal.
func Type(e Event) string { return e.Type() }

// Types names every type of event there is, in no order.
func Types() []string {
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	return names
}

// Replay reads a whole journal. Sound is how many bytes of it stand; what
// follows is a last line that was torn by a crash, and is to be cut off. A
// line that cannot be read anywhere else is an error: nobody but this program
// writes here.
func Replay(data []byte) (entries []Entry, sound int64, err error) {
	for number := 1; len(data) > 0; number++ {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		if !whole {
			return entries, sound, nil
		}
		entry, err := Decode(line)
		if err == nil && entry.Seq != number {
			err = fmt.Errorf("event has number %d", entry.Seq)
		}
		if err != nil {
			return entries, sound, fmt.Errorf("journal line %d: %w", number, err)
		}
		entries = append(entries, entry)
		sound += int64(len(line)) + 1
		data = rest
	}
	return entries, sound, nil
}

// Disk is where a Writer writes: a file that can be told to be safe.
type Disk interface {
	io.Writer
	Sync() error
}

// Writer appends events and keeps the Run they amount to. It is used from one
// goroutine at a time.
type Writer struct {
	Disk Disk
	Now  func() time.Time
	Hide func([]byte) []byte // takes secrets out of a line; nil: there are none
	Run  Run                 // what the journal says so far
}

// Append puts event on disk. When it returns nil the event is safe and Run
// knows it; only then may anybody act on it.
func (w *Writer) Append(event Event) error {
	entry := Entry{Seq: w.Run.Seq + 1, At: w.Now(), Event: event}
	line, err := Encode(entry)
	if err != nil {
		return err
	}
	if w.Hide != nil {
		line = w.Hide(line)
	}
	if _, err := w.Disk.Write(line); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := w.Disk.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	// What is folded is what was written, so that a run that goes on and one
	// that is replayed cannot tell each other apart.
	written, err := Decode(bytes.TrimSuffix(line, []byte{'\n'}))
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	w.Run = Fold(w.Run, written)
	return nil
}
