package checkout

// SplitRust splits a file of Rust into its code and its module of tests.
func SplitRust(text string) (code, tests string) { return splitRust(text) }
