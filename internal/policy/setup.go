package policy

// Setups makes commands of what makes a checkout ready for its checks. Unlike
// checks they build on each other: each is run in its place, and one that is
// there twice is run twice.
func Setups(commands []string, timeout Duration) []Check {
	var all []Check
	for _, command := range commands {
		all = append(all, Check{Name: name(command, all), Command: command, Timeout: timeout})
	}
	return all
}
