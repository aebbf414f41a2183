package journal_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// disk is a file in memory that counts how often it was made safe.
type disk struct {
	bytes.Buffer
	syncs int
}

func (d *disk) Sync() error { d.syncs++; return nil }

func ticking() func() time.Time {
	at := noon
	return func() time.Time { at = at.Add(time.Second); return at }
}

func began() journal.RunBegan {
	return journal.RunBegan{
		Run:    "r1",
		Policy: policy.ForPreset(policy.ByStories),
		Plan: plan.Plan{UserStories: []plan.Story{
			{ID: "US-001", Title: "one", AcceptanceCriteria: []string{"works"}, Priority: 1},
			{ID: "US-002", Title: "two", AcceptanceCriteria: []string{"works"}, Priority: 2},
		}},
		Base: "b0", Start: "b0", Level: "none",
	}
}

func TestWhatIsAppendedIsReplayed(t *testing.T) {
	d := &disk{}
	w := &journal.Writer{Disk: d, Now: ticking()}
	for i, event := range sample() {
		if err := w.Append(event); err != nil {
			t.Fatalf("Append(%s) = %v", journal.Type(event), err)
		}
		if d.syncs != i+1 {
			t.Fatalf("after %s: %d syncs, want %d", journal.Type(event), d.syncs, i+1)
		}
	}
	entries, sound, err := journal.Replay(d.Bytes())
	if err != nil || sound != int64(d.Len()) {
		t.Fatalf("Replay = %d bytes, %v; want all %d", sound, err, d.Len())
	}
	if diff := cmp.Diff(w.Run, journal.Fold(journal.Run{}, entries...)); diff != "" {
		t.Errorf("replayed run differs from the written one (-written +replayed):\n%s", diff)
	}
}

func TestEveryTypeOfEventIsInTheSample(t *testing.T) {
	var seen []string
	for _, event := range sample() {
		seen = append(seen, journal.Type(event))
	}
	want := journal.Types()
	slices.Sort(want)
	slices.Sort(seen)
	if diff := cmp.Diff(want, slices.Compact(seen)); diff != "" {
		t.Errorf("types in the sample (-all +seen):\n%s", diff)
	}
}

func TestEventsSurviveTheirLine(t *testing.T) {
	for i, event := range sample() {
		line, err := journal.Encode(journal.Entry{Seq: i + 1, At: noon, Event: event})
		if err != nil {
			t.Fatalf("Encode(%s) = %v", journal.Type(event), err)
		}
		if bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("%s takes more than a line: %q", journal.Type(event), line)
		}
		got, err := journal.Decode(bytes.TrimSpace(line))
		if err != nil {
			t.Fatalf("Decode(%s) = %v", line, err)
		}
		if diff := cmp.Diff(event, got.Event, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", journal.Type(event), diff)
		}
	}
}

func TestTornLastLineIsLeftOut(t *testing.T) {
	whole := lines(t, began(), journal.Noted{What: "one"})
	for cut := 1; cut < 20; cut++ {
		entries, sound, err := journal.Replay(whole[:len(whole)-cut])
		if err != nil || len(entries) != 1 {
			t.Fatalf("cut by %d: %d entries, %v; want 1", cut, len(entries), err)
		}
		if want := bytes.IndexByte(whole, '\n') + 1; sound != int64(want) {
			t.Errorf("cut by %d: sound = %d, want %d", cut, sound, want)
		}
	}
}

// Before the error, a journal says as much as can be read of it.
func TestBrokenJournalsAreRefused(t *testing.T) {
	first := string(lines(t, began()))
	for second, want := range map[string]string{
		"garbage\n": "journal line 2: read event",
		first:       "journal line 2: event has number 1",
		`{"v":1,"seq":2,"at":"2026-11-20T12:00:00Z","type":"danced"}` + "\n":         `unknown type "danced"`,
		`{"v":2,"seq":2,"at":"2026-11-20T12:00:00Z","type":"noted"}` + "\n":          "version 2",
		`{"v":1,"seq":2,"at":"2026-11-20T12:00:00Z","type":"noted","what":3}` + "\n": "read noted",
	} {
		entries, sound, err := journal.Replay([]byte(first + second + first))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Replay = %v, want %q in it", err, want)
		}
		if len(entries) != 1 || sound != int64(len(first)) {
			t.Errorf("%s: %d entries, %d bytes; want 1, %d", want, len(entries), sound, len(first))
		}
	}
}

func TestSecretsNeverReachDiskOrRun(t *testing.T) {
	d := &disk{}
	hide := func(line []byte) []byte { return bytes.ReplaceAll(line, []byte("hunter2"), []byte("***")) }
	w := &journal.Writer{Disk: d, Now: ticking(), Hide: hide}
	if err := w.Append(journal.Noted{What: "password hunter2"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(d.String(), "hunter2") || w.Run.Notes[0].What != "password ***" {
		t.Errorf("secret kept: %s, %+v", d, w.Run.Notes)
	}
}

// A journal folded at once and one folded in two parts are the same run, and
// folding changes nothing in the run it starts from.
func TestFoldingInPartsIsFoldingAll(t *testing.T) {
	for seed := range uint64(300) {
		entries := odd(rand.New(rand.NewPCG(seed, 1)))
		whole := journal.Fold(journal.Run{}, entries...)
		for cut := range entries {
			prefix := journal.Fold(journal.Run{}, entries[:cut]...)
			before := journal.Fold(journal.Run{}, entries[:cut]...)
			rest := journal.Fold(prefix, entries[cut:]...)
			if !reflect.DeepEqual(whole, rest) {
				t.Fatalf("seed %d cut at %d (-whole +parts):\n%s", seed, cut, cmp.Diff(whole, rest))
			}
			if !reflect.DeepEqual(before, prefix) {
				t.Fatalf("seed %d cut at %d: folding on changed the prefix (-before +after):\n%s", seed, cut, cmp.Diff(before, prefix))
			}
		}
	}
}

func lines(t *testing.T, events ...journal.Event) []byte {
	t.Helper()
	d := &disk{}
	w := &journal.Writer{Disk: d, Now: ticking()}
	for _, event := range events {
		if err := w.Append(event); err != nil {
			t.Fatal(err)
		}
	}
	return d.Bytes()
}

// No matter what a journal holds, its sound part is read again as it was.
func FuzzReplay(f *testing.F) {
	d := &disk{}
	w := &journal.Writer{Disk: d, Now: ticking()}
	for _, event := range sample() {
		if err := w.Append(event); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(d.Bytes())
	for line := range bytes.Lines(d.Bytes()) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, sound, _ := journal.Replay(data)
		again, whole, err := journal.Replay(data[:sound])
		if err != nil || whole != sound || len(again) != len(entries) {
			t.Errorf("the sound part has %d of %d events, %d of %d bytes: %v", len(again), len(entries), whole, sound, err)
		}
		journal.Fold(journal.Run{}, entries...)
	})
}
