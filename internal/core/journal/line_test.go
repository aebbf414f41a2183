package journal_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
)

func TestALineAsItIsWritten(t *testing.T) {
	east := time.FixedZone("east", 3600)
	for want, event := range map[string]journal.Event{
		`{"v":1,"seq":7,"at":"2026-11-20T11:00:00Z","type":"task_looked"}` + "\n":                    journal.TaskLooked{},
		`{"v":1,"seq":7,"at":"2026-11-20T11:00:00Z","type":"cancel_asked","why":"SIGINT"}` + "\n":    journal.CancelAsked{Why: "SIGINT"},
		`{"v":1,"seq":7,"at":"2026-11-20T11:00:00Z","type":"pushed","branch":"b","sha":"c1"}` + "\n": journal.Pushed{Branch: "b", SHA: "c1"},
	} {
		line, err := journal.Encode(journal.Entry{Seq: 7, At: time.Date(2026, 11, 20, 12, 0, 0, 0, east), Event: event})
		if err != nil || string(line) != want {
			t.Errorf("Encode = %s, %v, want %s", line, err, want)
		}
		back, err := journal.Decode([]byte(want))
		if err != nil || back.Seq != 7 || !back.At.Equal(noon.Add(-time.Hour)) || !cmp.Equal(back.Event, event) {
			t.Errorf("Decode(%s) = %+v, %v", want, back, err)
		}
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	broken := plan.Plan{Extra: jsontext.Value(`{"x":{`)}
	for name, entry := range map[string]journal.Entry{
		"a year of five digits":  {At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Event: journal.Noted{}},
		"a plan that is no JSON": {At: noon, Event: journal.RunBegan{Plan: broken}},
	} {
		if line, err := journal.Encode(entry); err == nil {
			t.Errorf("%s: Encode = %s, want an error", name, line)
		}
		d := &disk{}
		w := &journal.Writer{Disk: d, Now: func() time.Time { return entry.At }}
		if err := w.Append(entry.Event); err == nil || d.Len() > 0 {
			t.Errorf("%s: Append = %v with %q on disk", name, err, d)
		}
	}
}

// Before the error, a journal says as much as can be read of it.
func TestABrokenJournalIsReadUpToItsBreak(t *testing.T) {
	if entry, err := journal.Decode([]byte(`{"v":1,"seq":2,"type":"noted","what":3}`)); err == nil {
		t.Errorf("Decode = %+v, want an error", entry)
	}
	first := lines(t, began())
	for _, next := range []string{"garbage\n", `{"v":1,"seq":2,"at":"2026-11-20T12:00:00Z","type":"noted","what":3}` + "\n"} {
		entries, sound, err := journal.Replay(append(bytes.Clone(first), next...))
		if err == nil || len(entries) != 1 || sound != int64(len(first)) {
			t.Errorf("behind %q: Replay = %d entries, %d bytes, %v; want 1, %d and an error", next, len(entries), sound, err, len(first))
		}
	}
}

// An event is known once it is safe, and no sooner.
func TestAnEventThatIsNotSafeIsNotKnown(t *testing.T) {
	full := errors.New("no space left")
	w := &journal.Writer{Disk: &disk{}, Now: ticking()}
	if err := w.Append(began()); err != nil || !w.Run.Clock.Began.Equal(noon.Add(time.Second)) {
		t.Fatalf("Append = %v at %s, want it at the first tick", err, w.Run.Clock.Began)
	}
	w.Disk = syncs{full}
	if err := w.Append(journal.Noted{}); !errors.Is(err, full) || w.Run.Seq != 1 {
		t.Errorf("Append = %v, and the run knows %d events; want %v and 1", err, w.Run.Seq, full)
	}
	w = &journal.Writer{Disk: &disk{}, Now: ticking(), Hide: func([]byte) []byte { return []byte("***\n") }}
	if err := w.Append(began()); err == nil || w.Run.Seq != 0 {
		t.Errorf("Append = %v of a line that was hidden whole, want an error", err)
	}
}

// syncs takes what it is given and never makes it safe.
type syncs struct{ err error }

func (syncs) Write(p []byte) (int, error) { return len(p), nil }
func (s syncs) Sync() error               { return s.err }

func TestHowLongThingsTook(t *testing.T) {
	for name, got := range map[string]time.Duration{
		"check":   journal.CheckEnded{TookMS: 1500}.Took(),
		"agent":   journal.AgentEnded{TookMS: 1500}.Took(),
		"a pause": journal.Paused{MS: 1500}.Delay(),
	} {
		if got != 1500*time.Millisecond {
			t.Errorf("%s: %s, want 1.5s", name, got)
		}
	}
}
