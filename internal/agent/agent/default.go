package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Preferred are the agents of which a run takes one if nothing names its agent, in this order.
var Preferred = []string{"claude", "codex", "gemini", "opencode", "copilot", "qwen", "amp"}

// Default is the agent of a run for which nothing names one.
type Default struct {
	Name      string
	Installed bool
	Passed    string // why earlier ones of Preferred were not taken; empty: it is the first
}

// FindDefault returns the first of Preferred that is installed and has a key or a login, else the first that is
// installed, else the first. It starts no program.
func FindDefault(env []string, dir string) Default {
	var installed []string
	var passed []string
	for _, name := range Preferred {
		_, err := Adapter{Program: name}.Locate(env, dir)
		switch {
		case err != nil:
			passed = append(passed, name+" is not installed")
			continue
		case hasAccess(name, env):
			return Default{name, true, strings.Join(passed, ", ")}
		}
		passed = append(passed, name+" has no key or login")
		installed = append(installed, name)
	}
	if len(installed) == 0 {
		return Default{Name: Preferred[0]}
	}
	first := slices.Index(Preferred, installed[0])
	return Default{installed[0], true, strings.Join(passed[:first], ", ")}
}

// hasAccess reports whether the environment has a key for the agent, or the home its login or its own model server.
func hasAccess(name string, env []string) bool {
	keys := KeysFrom(func(variable string) string { return environ.Get(env, variable) }, name, "")
	makers, replaceable := keys.Makers(name, "")
	if len(makers) > 0 || !replaceable {
		return true
	}
	return !keys.ChooseKey(name, env) || hasLogin(name, env)
}

// TokenHint returns how to keep an agent's login out of the sandbox; empty: it has none there, or no other way.
func TokenHint(name string, env []string) string {
	keys := KeysFrom(func(variable string) string { return environ.Get(env, variable) }, name, "")
	makers, _ := keys.Makers(name, "")
	if len(makers) > 0 || !hasLogin(name, env) {
		return ""
	}
	return kinds[name].tokenHint
}

func hasLogin(name string, env []string) bool {
	return slices.ContainsFunc(kinds[name].logins, func(l login) bool {
		text, err := untrusted.ReadFile(environ.PathIn(env, "", l.file), maxSettings)
		if err != nil {
			return false
		}
		return l.marker == nil || l.marker.MatchString(string(text))
	})
}
