package untrusted

// SetBounds sets how many bytes of names a walk keeps, and how many names a removal keeps.
func SetBounds(bytes, names int) (reset func()) {
	wasBytes, wasNames := mostListed, mostNames
	mostListed, mostNames = bytes, names
	return func() { mostListed, mostNames = wasBytes, wasNames }
}
