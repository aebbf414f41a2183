package sandbox

// Left are the numbers of what somebody has of the memory of System V.
func Left(table, title, uid string) []int { return left(table, title, uid) }

// Revealing tells whether a file of settings says more than settings.
func Revealing(text string) bool { return revealing.MatchString(text) }
