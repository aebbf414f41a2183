package untrusted

// SetBound sets how many bytes of names a walk keeps.
func SetBound(bytes int) (reset func()) {
	before := MostListed
	MostListed = bytes
	return func() { MostListed = before }
}
