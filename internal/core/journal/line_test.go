package journal_test

import (
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

// An event is known once it is safe, and no sooner.
func TestAnEventThatIsNotSafeIsNotKnown(t *testing.T) {
	full := errors.New("no space left")
	w := &journal.Writer{Disk: &disk{}, Now: ticking()}
	if err := w.Append(began()); err != nil || !w.Run.Clock.Began.Equal(noon.Add(time.Second)) {
		t.Fatalf("Append = %v at %s, want it at the first tick", err, w.Run.Clock.Began)
	}
	for _, broken := range []brokenDisk{{write: full}, {sync: full}} {
		w.Disk = broken
		if err := w.Append(journal.Noted{}); !errors.Is(err, full) || w.Run.Seq != 1 {
			t.Errorf("Append = %v, and the run knows %d events; want %v and 1", err, w.Run.Seq, full)
		}
	}
	w = &journal.Writer{Disk: &disk{}, Now: ticking(), Hide: func([]byte) []byte { return []byte("***\n") }}
	if err := w.Append(began()); err == nil || w.Run.Seq != 0 {
		t.Errorf("Append = %v of a line that was hidden whole, want an error", err)
	}
}

type brokenDisk struct{ write, sync error }

func (d brokenDisk) Write(p []byte) (int, error) { return len(p), d.write }
func (d brokenDisk) Sync() error                 { return d.sync }
