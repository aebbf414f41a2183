package server

import "time"

// Memory is one of that size, for the tests of what it forgets.
func Memory(size int) (take func(id string) bool, did func(id, deed string) bool, forget func(id string)) {
	m := newMemory(size)
	return m.take, m.did, m.forget
}

// Debts is what such a memory owes.
func Debts(size int) (owe func(id string, at time.Time), owesAny func(since time.Time) bool) {
	m := newMemory(size)
	return m.owe, m.owesAny
}
