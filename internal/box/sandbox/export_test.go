package sandbox

// Without is w with parts of the sandbox taken away.
func Without(w Config, parts ...string) Config {
	for _, p := range parts {
		w.off = append(w.off, mechanism(p))
	}
	return w
}

// Pretend is w on a kernel of an older Landlock; -1: of none.
func Pretend(w Config, abi int) Config {
	w.abi = abi
	return w
}
