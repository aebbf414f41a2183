package seccomp

// Refused returns the names of the calls that no level lets through.
func Refused() []string { return refused }
