// Package journal is the record of a run: a closed set of Events, the Run
// that they fold into, and the lines on disk. It only appends; it opens no
// files and judges nothing.
package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
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
	head, err := json.Marshal(header{Version, e.Seq, e.At.UTC(), Type(e.Event)})
	if err != nil {
		return nil, fmt.Errorf("encode event %d: %w", e.Seq, err)
	}
	body, err := json.Marshal(e.Event)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", Type(e.Event), err)
	}
	line := head
	if len(body) > len("{}") {
		line = append(head[:len(head)-1], ',')
		line = append(line, body[1:]...)
	}
	return append(line, '\n'), nil
}

// VersionError is that an event is not of the version that this program reads.
type VersionError struct{ V int }

// Error names both.
func (e *VersionError) Error() string {
	return fmt.Sprintf("event has version %d, this program reads %d", e.V, Version)
}

// Decode reads one line.
func Decode(line []byte) (Entry, error) {
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return Entry{}, fmt.Errorf("read event: %w", err)
	}
	if h.V != Version {
		return Entry{}, &VersionError{h.V}
	}
	kind, known := kinds[h.Type]
	if !known {
		return Entry{}, fmt.Errorf("event has unknown type %q", h.Type)
	}
	read := reflect.New(reflect.TypeOf(kind))
	if err := json.Unmarshal(line, read.Interface()); err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", h.Type, err)
	}
	return Entry{Seq: h.Seq, At: h.At, Event: read.Elem().Interface().(Event)}, nil //nolint:forcetypeassert // of a kind
}

// kinds is the closed set, by name.
var kinds = map[string]Event{
	"run_began":        RunBegan{},
	"resumed":          Resumed{},
	"noted":            Noted{},
	"egress_refused":   EgressRefused{},
	"egress_passed":    EgressPassed{},
	"check_ended":      CheckEnded{},
	"setup_ended":      SetupEnded{},
	"plan_drafted":     PlanDrafted{},
	"baseline_ended":   BaselineEnded{},
	"iteration_began":  IterationBegan{},
	"agent_ended":      AgentEnded{},
	"plan_read":        PlanRead{},
	"commits_taken":    CommitsTaken{},
	"proof_ended":      ProofEnded{},
	"story_graded":     StoryGraded{},
	"change_inspected": ChangeInspected{},
	"story_reviewed":   StoryReviewed{},
	"iteration_ended":  IterationEnded{},
	"scm_ended":        SCMEnded{},
	"task_looked":      TaskLooked{},
	"paused":           Paused{},
	"task_settled":     TaskSettled{},
	"pushed":           Pushed{},
	"pull_opened":      PullOpened{},
	"pull_readied":     PullReadied{},
	"publish_failed":   PublishFailed{},
	"joined":           Joined{},
	"branched":         Branched{},
	"packed":           Packed{},
	"signed":           Signed{},
	"comment_posted":   CommentPosted{},
	"shelved":          Shelved{},
	"cancel_asked":     CancelAsked{},
	"run_stopped":      RunStopped{},
}

// types are the names of the kinds.
var types = func() map[reflect.Type]string {
	all := map[reflect.Type]string{}
	for name, event := range kinds {
		all[reflect.TypeOf(event)] = name
	}
	return all
}()

// Type is the event's name in the journal.
func Type(e Event) string { return types[reflect.TypeOf(e)] }

// Types names every type of event, in alphabetical order.
func Types() []string { return slices.Sorted(maps.Keys(kinds)) }

// Replay reads a whole journal. Sound is how many bytes of it are valid; the
// rest is a last line that was torn by a crash, and is to be cut off. A line
// elsewhere that cannot be read is an error: only this program writes here.
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
