package handover

// ParseCommit is what is read of a commit, for the fuzzer.
func ParseCommit(text string) (tree string, parents []string, err error) {
	c, err := parseCommit("", text)
	return c.tree, c.parents, err
}
