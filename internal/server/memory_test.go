package server_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/server"
)

func TestMemoryKnowsTheNewest(t *testing.T) {
	take, forget := server.Memory(3)
	for i, c := range []struct {
		id     string
		forget bool
		isNew  bool
	}{
		{id: "a", isNew: true},
		{id: "b", isNew: true},
		{id: "a"},
		{id: "c", isNew: true},
		{id: "d", isNew: true}, // in the place of a
		{id: "b"},
		{id: "a", isNew: true}, // in the place of b
		{id: "c", forget: true},
		{id: "c", isNew: true}, // in its own place
		{id: "d"},
		{id: "a"},
		{id: "nobody", forget: true},
		{id: "e", isNew: true}, // in the place of d
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
