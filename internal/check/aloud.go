package check

import (
	"slices"
	"strings"
)

// env is that of the commands. What GOFLAGS names, go test takes as far as it
// knows it, be it started by a makefile or a script.
func (j Job) env(env []string) []string {
	const flags = "GOFLAGS="
	if !j.Aloud {
		return env
	}
	env = slices.Clone(env)
	at := slices.IndexFunc(env, func(one string) bool { return strings.HasPrefix(one, flags) })
	if at < 0 {
		return append(env, flags+"-v")
	}
	env[at] = flags + strings.TrimSpace(strings.TrimPrefix(env[at], flags)+" -v")
	return env
}
