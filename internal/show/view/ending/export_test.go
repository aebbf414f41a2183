package ending

// String returns the cause in a few words.
func (c *Cause) String() string { return c.name }
