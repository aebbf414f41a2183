package confine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Description returns what people are told of the sandbox: its level, or none where there is none.
func (w *Sandbox) Description(none string) string {
	if w == nil {
		return none
	}
	text := "sandbox level " + w.Name() + ": tested from inside"
	if w.leaky {
		text += ", except as noted"
	}
	text += serviceText(w.servers.services)
	if w.servers.allowsEveryModel() {
		text += "; no model is set, so every model is allowed"
	}
	return text
}

func (d *servers) allowsEveryModel() bool {
	if d.modelServer == nil {
		return false
	}
	return slices.ContainsFunc(d.modelServer.Makers, func(m egress.Maker) bool { return len(m.Models) == 0 })
}

// Notices returns what people should know of the sandbox.
func (w *Sandbox) Notices() []journal.Noted {
	if w == nil {
		return nil
	}
	return w.notes
}

// noteOpen notes what the level leaves open.
func (w *Sandbox) noteOpen(open []string) {
	if len(open) == 0 {
		return
	}
	w.leaky = true
	w.notes = append(w.notes, journal.Noted{
		What: "at the sandbox level external your own sandbox has to block what got through: " +
			strings.Join(open, ", "),
		Hint: "block these in your own sandbox, or remove the files and servers that it can reach; " +
			"a kernel with Landlock blocks the files",
	})
}

// NoteOnce has Flush put a note on record, once for all boxes of the sandbox.
func (w *Sandbox) NoteOnce(note journal.Noted) {
	if slices.Contains(w.noted, note) {
		return
	}
	w.noted = append(w.noted, note)
	w.record(note)
}

func (w *Sandbox) record(event journal.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, event)
}

// HasRefusals reports whether something was refused since Flush last put that on record.
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

// Flush puts on record the events since it last did.
func (w *Sandbox) Flush(emit func(journal.Event)) {
	if w == nil {
		return
	}
	w.mu.Lock()
	pending := w.pending
	w.pending = nil
	w.mu.Unlock()
	for _, event := range pending {
		emit(event)
	}
}

// mostHosts keeps an agent from filling the journal with host names.
const mostHosts = 50

func (d *servers) traffic() []egress.Traffic {
	var all []egress.Traffic
	if d.proxy.Proxy != nil {
		all = d.proxy.Traffic()
	}
	if d.modelServer != nil {
		all = append(all, d.modelServer.Traffic()...)
	}
	return all
}

// Passed returns the traffic since the last call; nil: nothing.
func (w *Sandbox) Passed() *journal.EgressPassed {
	if w == nil {
		return nil
	}
	now := w.servers.traffic()
	event := since(w.trafficReported, now)
	w.trafficReported = now
	return event
}

func since(before, now []egress.Traffic) *journal.EgressPassed {
	var all []journal.Passage
	for _, t := range now {
		for _, old := range before {
			if old.Name == t.Name && old.Model == t.Model {
				t.Tunnels -= old.Tunnels
				t.Up -= old.Up
				t.Down -= old.Down
			}
		}
		if t.Tunnels+t.Up+t.Down > 0 {
			host := strings.TrimPrefix(t.Name.String(), egress.Name{}.String()) // empty: of many hosts
			all = append(all, journal.Passage{Host: host, Times: t.Tunnels, Up: t.Up, Down: t.Down})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b journal.Passage) int { return cmp.Compare(b.Up+b.Down, a.Up+a.Down) })
	event := journal.EgressPassed{Hosts: all[:min(len(all), mostHosts)]}
	for _, p := range all[len(event.Hosts):] {
		if event.Rest == nil {
			event.Rest = &journal.Passage{}
		}
		event.Rest.Times += p.Times
		event.Rest.Up += p.Up
		event.Rest.Down += p.Down
	}
	return &event
}
