package agent

// Manage has an agent read these files as the company's settings, until the end of a test.
func Manage(cleanup func(func()), name, files string) {
	old := kinds[name]
	changed := old
	changed.managed = []string{files}
	kinds[name] = changed
	cleanup(func() { kinds[name] = old })
}
