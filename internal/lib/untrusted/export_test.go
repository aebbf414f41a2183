package untrusted

// SetBounds sets how many bytes of names a walk keeps, and how many names a removal keeps.
func SetBounds(bytes, names int) (reset func()) {
	wasBytes, wasNames := MostListed, mostNames
	MostListed, mostNames = bytes, names
	return func() { MostListed, mostNames = wasBytes, wasNames }
}
