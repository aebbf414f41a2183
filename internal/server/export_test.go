package server

import "time"

// Memory returns the methods of a memory of that size.
func Memory(size int) (add func(id string) bool, addContent func(id, hash string) bool, forget func(id string)) {
	m := newMemory(size)
	return m.add, m.addContent, m.forget
}

// UnfinishedMemory returns the methods of a memory for unfinished deliveries.
func UnfinishedMemory(size int) (mark func(id string, at time.Time), hasAny func(since time.Time) bool) {
	m := newMemory(size)
	return m.markUnfinished, m.hasUnfinished
}
