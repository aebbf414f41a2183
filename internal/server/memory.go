package server

import "sync"

// remembered is how many deliveries are known again: more than come in a day
// to most.
const remembered = 50_000

// memory knows the deliveries that were taken in, the newest of them.
type memory struct {
	mu    sync.Mutex
	known map[string]int // the place in order
	order []string       // a ring; empty where one was forgotten
	next  int
	owed  map[string]bool // taken in, and still to be seen to
}

func newMemory(size int) *memory {
	return &memory{known: map[string]int{}, order: make([]string, size), owed: map[string]bool{}}
}

// take remembers id, and tells whether it is new.
func (m *memory) take(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, old := m.known[id]; old {
		return false
	}
	delete(m.owed, id)
	delete(m.known, m.order[m.next])
	m.known[id], m.order[m.next] = m.next, id
	m.next = (m.next + 1) % len(m.order)
	return true
}

// forget lets id come again: it was taken in, and could not be seen to.
func (m *memory) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, is := m.known[id]; is {
		m.order[at] = ""
		delete(m.known, id)
	}
}

// owe forgets id as well, and that it was taken in long ago does not matter.
func (m *memory) owe(id string) {
	m.forget(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owed[id] = true
}

func (m *memory) owes(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owed[id]
}
