package server_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/entry/server"
)

func TestMemoryKnowsTheNewest(t *testing.T) {
	add, forget := server.Memory(3)
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
		{id: "c", isNew: true}, // instead of its forgotten self
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
