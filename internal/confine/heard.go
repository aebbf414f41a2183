package confine

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
)

// reportPutBack reports changes that were undone, except those that the agent's program makes at each start.
func (w *Sandbox) reportPutBack(paths []string) {
	paths = slices.DeleteFunc(paths, w.folders.isMadeByAgent)
	if len(paths) == 0 {
		return
	}
	w.record(journal.Noted{What: "put back, because the agent may not change it: " + journal.ShortList(paths)})
}

func (w *Sandbox) record(event journal.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, event)
}

// HasRefusals tells whether something was refused since Tell last put that on record.
func (w *Sandbox) HasRefusals() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.pending, func(event journal.Event) bool {
		_, refused := event.(journal.EgressRefused)
		return refused
	})
}

// Flush puts on record what was heard since it last did.
func (w *Sandbox) Flush(emit func(journal.Event)) {
	if w == nil {
		return
	}
	w.mu.Lock()
	heard := w.pending
	w.pending = nil
	w.mu.Unlock()
	for _, event := range heard {
		emit(event)
	}
}
