package handover

// ParseCommit exports parseCommit for the fuzz test.
func ParseCommit(text string) (tree string, parents []string, err error) {
	c, err := parseCommit("", text)
	return c.tree, c.parents, err
}
