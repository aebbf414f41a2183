package server_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/server"
)

func TestMemoryKnowsTheNewest(t *testing.T) {
	take, _, forget := server.Memory(3)
	for i, c := range []struct {
		id     string
		forget bool
		isNew  bool
	}{
		{id: "a", isNew: true},
		{id: "b", isNew: true},
		{id: "a"},
		{id: "c", isNew: true},
		{id: "d", isNew: true}, // instead of a
		{id: "b"},
		{id: "a", isNew: true}, // instead of b
		{id: "c", forget: true},
		{id: "c", isNew: true}, // in its own place
		{id: "d"},
		{id: "a"},
		{id: "missing", forget: true},
		{id: "e", isNew: true}, // instead of d
		{id: "a"},
		{id: "c"},
	} {
		if c.forget {
			forget(c.id)
			continue
		}
		if got := take(c.id); got != c.isNew {
			t.Errorf("step %d: %s is new: %t, want %t", i, c.id, got, c.isNew)
		}
	}
}

// What happened is known as long as its delivery, and goes with it.
func TestMemoryKnowsWhatHappened(t *testing.T) {
	take, did, forget := server.Memory(2)
	for i, c := range []struct {
		id, deed string
		isNew    bool
	}{
		{"a", "label", true},
		{"b", "label", false},
		{"b", "comment", true},
		{"c", "label", true}, // instead of a
		{"d", "comment", true},
		{"e", "comment", false},
	} {
		take(c.id)
		if got := did(c.id, c.deed); got != c.isNew {
			t.Errorf("step %d: %s of %s is new: %t, want %t", i, c.deed, c.id, got, c.isNew)
		}
	}
	take("f")
	did("f", "review")
	forget("f")
	if take("g"); !did("g", "review") {
		t.Error("what could not be seen to is not let come again")
	}
}

// What GitHub's log no longer has is forgotten: memory would grow with each outage.
func TestMemoryOwesForAsLongAsTheLogKnows(t *testing.T) {
	owe, owesAny := server.Debts(3)
	day := time.Unix(0, 0)
	owe("a", day)
	owe("b", day.Add(time.Hour))
	for _, c := range []struct {
		since time.Time
		owed  bool
	}{{day, true}, {day.Add(time.Hour), true}, {day.Add(2 * time.Hour), false}, {day, false}} {
		if got := owesAny(c.since); got != c.owed {
			t.Errorf("since %s it owes any: %t, want %t", c.since, got, c.owed)
		}
	}
}
