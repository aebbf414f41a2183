package seccomp

// Refused are the names of the calls that no level lets through.
func Refused() []string { return refused }
