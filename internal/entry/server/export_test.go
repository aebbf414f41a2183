package server

// Memory returns the methods of a memory of that size.
func Memory(size int) (add func(key string) bool, forget func(key string)) {
	m := newMemory(size)
	return m.add, m.forget
}
