package job

// Toolchain is what can be read for the sake of PATH and the tools of a home.
func Toolchain(asked WallAsked) []string { return toolchain(asked) }
