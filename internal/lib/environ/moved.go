package environ

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/agentfiles"
)

// moved are the paths of the home that variables place elsewhere.
var moved = append(agentfiles.All().Moved,
	agentfiles.Moved{Path: ".config", Variable: "XDG_CONFIG_HOME"},
	agentfiles.Moved{Path: ".local/share", Variable: "XDG_DATA_HOME"},
	agentfiles.Moved{Path: ".local/state", Variable: "XDG_STATE_HOME"},
)

// namesNoFolder reports an empty one of these variables. It counts as unset, but Claude Code takes the working folder.
func namesNoFolder(variable string) bool {
	return slices.ContainsFunc(moved, func(m agentfiles.Moved) bool { return variable == m.Variable+"=" })
}

// Place returns the folder that the user chose for a path of the home, and the path below it; empty: none.
func Place(path, home string, env []string) (dir, below string) {
	for _, m := range moved {
		rest, ok := strings.CutPrefix(path+"/", m.Path+"/")
		if !ok {
			continue
		}
		if at := Get(env, m.Variable); at != "" {
			return at, filepath.Join(m.Below, rest)
		}
	}
	if strings.HasPrefix(path, "$") {
		return "", ""
	}
	return home, path
}

// PathIn returns a path of the home, for an agent that works in dir. Variables can be relative in a job.
func PathIn(env []string, dir, path string) string {
	path = filepath.Join(Place(path, Get(env, "HOME"), env))
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path
}

// Absolute returns those of these variables that are relative in env, as paths in dir.
func Absolute(env []string, dir string) []string {
	var absolute []string
	for _, m := range moved {
		if at := Get(env, m.Variable); at != "" && !filepath.IsAbs(at) {
			absolute = append(absolute, m.Variable+"="+filepath.Join(dir, at))
		}
	}
	return absolute
}

// InNewHome returns env without these variables: in a new home, all has its usual place.
func InNewHome(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		return slices.ContainsFunc(moved, func(m agentfiles.Moved) bool {
			return strings.HasPrefix(variable, m.Variable+"=")
		})
	})
}
