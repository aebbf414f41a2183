package server

import "time"

// Memory returns the methods of a memory of that size.
func Memory(size int) (add func(key string) bool, forget func(keys ...string)) {
	m := newMemory(size)
	return m.add, m.forget
}

// UnfinishedMemory returns the methods of a memory for unfinished deliveries.
func UnfinishedMemory(size int) (mark func(id string, at time.Time), hasAny func(since time.Time) bool) {
	m := newMemory(size)
	return m.markUnfinished, m.hasUnfinished
}
