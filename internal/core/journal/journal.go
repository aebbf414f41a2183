// Package journal is the record of a run: a closed set of events, the Run that they fold
// into, and the lines on disk. It only appends; it opens no files and decides nothing.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"time"
)

// Version is that of the events. A journal of another version is refused.
const Version = 1

// Entry is an event with its place in the journal.
type Entry struct {
	Seq   int
	At    time.Time
	Event Event
}

type header struct {
	V    int       `json:"v"`
	Seq  int       `json:"seq"`
	At   time.Time `json:"at"`
	Type string    `json:"type"`
}

// Encode returns the line of an entry, with its newline.
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

// VersionError is the error of an event with another version than this program reads.
type VersionError struct{ V int }

// Error names both versions.
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
	event := read.Elem().Interface().(Event) //nolint:forcetypeassert // of a kind
	return Entry{Seq: h.Seq, At: h.At, Event: event}, nil
}

var kinds = map[string]Event{
	"run_began":       RunBegan{},
	"resumed":         Resumed{},
	"noted":           Noted{},
	"egress_refused":  EgressRefused{},
	"egress_passed":   EgressPassed{},
	"check_ended":     CheckEnded{},
	"setup_ended":     SetupEnded{},
	"plan_drafted":    PlanDrafted{},
	"baseline_ended":  BaselineEnded{},
	"iteration_began": IterationBegan{},
	"agent_ended":     AgentEnded{},
	"plan_read":       PlanRead{},
	"commits_taken":   CommitsTaken{},
	"proof_ended":     ProofEnded{},
	"story_reviewed":  StoryReviewed{},
	"iteration_ended": IterationEnded{},
	"scm_ended":       SCMEnded{},
	"task_looked":     TaskLooked{},
	"paused":          Paused{},
	"task_settled":    TaskSettled{},
	"delivered":       Delivered{},
	"pushed":          Pushed{},
	"pull_opened":     PullOpened{},
	"pull_readied":    PullReadied{},
	"publish_failed":  PublishFailed{},
	"joined":          Joined{},
	"branched":        Branched{},
	"packed":          Packed{},
	"signed":          Signed{},
	"comment_posted":  CommentPosted{},
	"shelved":         Shelved{},
	"cancel_asked":    CancelAsked{},
	"run_stopped":     RunStopped{},
}

var types = func() map[reflect.Type]string {
	all := map[reflect.Type]string{}
	for name, event := range kinds {
		all[reflect.TypeOf(event)] = name
	}
	return all
}()

// Type returns the event's name in the journal.
func Type(e Event) string { return types[reflect.TypeOf(e)] }

// Types returns the names of all events, sorted.
func Types() []string { return slices.Sorted(maps.Keys(kinds)) }

// Hidden returns an entry without secrets, which hide removes from its line. An entry
// that cannot be read without them becomes a note.
func Hidden(e Entry, hide func([]byte) []byte) Entry {
	note := Entry{Seq: e.Seq, At: e.At, Event: Noted{What: "an event is not shown because it holds a secret"}}
	line, err := Encode(e)
	if err != nil {
		return note
	}
	safe, err := Decode(hide(line))
	if err != nil {
		return note
	}
	return safe
}

// Replay reads a whole journal. sound is how many bytes of it are valid: the rest is a last line that a crash cut off,
// for the caller to remove. Another line that cannot be read is an error, as only this program writes here.
func Replay(data []byte) (entries []Entry, sound int64, err error) {
	var all []Entry
	size, err := Each(bytes.NewReader(data), func(_ []byte, entry Entry) { all = append(all, entry) })
	return all, size, err
}

// Each is Replay without keeping anything: do gets each line as it is read, and what it says.
func Each(from io.Reader, do func(line []byte, entry Entry)) (sound int64, err error) {
	size := int64(0)
	lines := bufio.NewReader(from)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return size, nil
		}
		if err != nil {
			return size, fmt.Errorf("journal line %d: %w", number, err)
		}
		entry, err := decodeNumbered(line[:len(line)-1], number)
		if err != nil {
			return size, fmt.Errorf("journal line %d: %w", number, err)
		}
		do(line, entry)
		size += int64(len(line))
	}
}

// decodeNumbered reads the line of the event with that number.
func decodeNumbered(line []byte, number int) (Entry, error) {
	entry, err := Decode(line)
	if err != nil {
		return Entry{}, err
	}
	if entry.Seq != number {
		return Entry{}, fmt.Errorf("event has number %d", entry.Seq)
	}
	return entry, nil
}

// Disk is the file to which a Writer writes.
type Disk interface {
	io.Writer
	Sync() error
}

// Writer appends events and keeps their run. Only one goroutine may use it at a time.
type Writer struct {
	Disk Disk
	Now  func() time.Time
	Hide func([]byte) []byte // removes secrets from a line; nil: there are none
	Run  Run                 // the state so far
}

// Append writes an event to disk. Once it returns nil, the event is safe and part of Run; no one may act on it before.
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
	// Fold what was written, so that a live run and a replayed one are equal.
	written, err := Decode(bytes.TrimSuffix(line, []byte{'\n'}))
	if err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	w.Run = Fold(w.Run, written)
	return nil
}
