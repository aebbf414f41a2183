package server_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/server"
)

func TestMemoryKnowsTheNewest(t *testing.T) {
	add, _, forget := server.Memory(3)
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
		if got := add(c.id); got != c.isNew {
			t.Errorf("step %d: %s is new: %t, want %t", i, c.id, got, c.isNew)
		}
	}
}

// The memory has the content of a delivery as long as its id.
func TestMemoryKnowsContents(t *testing.T) {
	add, addContent, forget := server.Memory(2)
	for i, c := range []struct {
		id, content string
		isNew       bool
	}{
		{"a", "label", true},
		{"b", "label", false},
		{"b", "comment", true},
		{"c", "label", true}, // instead of a
		{"d", "comment", true},
		{"e", "comment", false},
	} {
		add(c.id)
		if got := addContent(c.id, c.content); got != c.isNew {
			t.Errorf("step %d: %s of %s is new: %t, want %t", i, c.content, c.id, got, c.isNew)
		}
	}
	add("f")
	addContent("f", "review")
	forget("f")
	if add("g"); !addContent("g", "review") {
		t.Error("the content of a forgotten delivery is not new")
	}
}

// Unfinished deliveries that GitHub's log no longer has are removed.
func TestMemoryRemovesOldUnfinishedDeliveries(t *testing.T) {
	mark, hasAny := server.UnfinishedMemory(3)
	day := time.Unix(0, 0)
	mark("a", day)
	mark("b", day.Add(time.Hour))
	for _, c := range []struct {
		since time.Time
		want  bool
	}{{day, true}, {day.Add(time.Hour), true}, {day.Add(2 * time.Hour), false}, {day, false}} {
		if got := hasAny(c.since); got != c.want {
			t.Errorf("since %s: unfinished %t, want %t", c.since, got, c.want)
		}
	}
}
