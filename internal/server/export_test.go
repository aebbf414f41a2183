package server

// Memory is one of that size, for the tests of what it forgets.
func Memory(size int) (take func(id string) bool, did func(id, deed string) bool, forget func(id string)) {
	m := newMemory(size)
	return m.take, m.did, m.forget
}
