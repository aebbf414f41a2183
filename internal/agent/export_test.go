package agent

// FindRollouts returns the files of a thread of Codex, where only so many bytes of paths are kept.
func FindRollouts(dir, thread string, most int) []string {
	defer func(old int) { mostPaths = old }(mostPaths)
	mostPaths = most
	left := mostTime
	return (&rollouts{dir: dir, thread: thread}).findFiles(&left)
}

// Followed returns how many files a decoder of Codex remembers.
func Followed(decoder Decoder) int { return len(decoder.(rolloutDecoder).files) }

// Manage has an agent read these files as the company's settings, until the end of a test.
func Manage(cleanup func(func()), name, files string) {
	old := managedSettings[name]
	managedSettings[name] = []string{files}
	cleanup(func() { managedSettings[name] = old })
}

// LeaveNoTime has rollouts not be sought, until the end of a test.
func LeaveNoTime(cleanup func(func())) {
	old := mostTime
	mostTime = -1
	cleanup(func() { mostTime = old })
}
