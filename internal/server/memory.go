package server

import "sync"

// remembered is how many deliveries are known again: more than come in a day
// to most.
const remembered = 50_000

// memory knows the newest deliveries that were taken in: by their number, which
// GitHub does not sign, and by what happened, which it does.
type memory struct {
	mu    sync.Mutex
	known map[string]int // number or deed: the place in order
	order []delivery     // a ring; empty where one was forgotten
	next  int
	owed  map[string]bool // taken in, and still to be seen to
}

type delivery struct {
	id   string
	deed string // see order.deed; empty: nothing is to be done about it
}

func newMemory(size int) *memory {
	return &memory{known: map[string]int{}, order: make([]delivery, size), owed: map[string]bool{}}
}

// take remembers id, and tells whether it is new.
func (m *memory) take(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, old := m.known[id]; old {
		return false
	}
	delete(m.owed, id)
	m.drop(m.next)
	m.known[id], m.order[m.next] = m.next, delivery{id: id}
	m.next = (m.next + 1) % len(m.order)
	return true
}

// did remembers what the delivery id is about, and tells whether that is new.
func (m *memory) did(id, deed string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, old := m.known[deed]; old {
		return false
	}
	if at, is := m.known[id]; is {
		m.known[deed], m.order[at].deed = at, deed
	}
	return true
}

func (m *memory) drop(at int) {
	delete(m.known, m.order[at].id)
	delete(m.known, m.order[at].deed)
	m.order[at] = delivery{}
}

// forget lets id come again: it was taken in, and could not be seen to.
func (m *memory) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, is := m.known[id]; is {
		m.drop(at)
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
