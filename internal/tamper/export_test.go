package tamper

// FindOrFall is Find without its net: what falls over is to be heard of.
func FindOrFall(changes []Change) []Finding {
	r := &report{}
	for _, look := range r.looks(changes) {
		look()
	}
	return r.result()
}
