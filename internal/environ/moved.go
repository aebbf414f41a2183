package environ

import (
	"path/filepath"
	"slices"
	"strings"
)

// moved are the variables by which users keep elsewhere what agents have in the home. The last are additional.
var moved = []struct{ path, variable, way string }{
	{".claude", "CLAUDE_CONFIG_DIR", ""},
	{".claude.json", "CLAUDE_CONFIG_DIR", ".claude.json"},
	{".codex", "CODEX_HOME", ""},
	{".copilot", "COPILOT_HOME", ""},
	{".gemini", "GEMINI_CLI_HOME", ".gemini"},
	{".config", "XDG_CONFIG_HOME", ""},
	{".local/share", "XDG_DATA_HOME", ""},
	{".local/state", "XDG_STATE_HOME", ""},
	{"$OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_DIR", ""},
	{"$OPENCODE_CONFIG", "OPENCODE_CONFIG", ""},
}

// namesNoFolder reports an empty one of these variables. It counts as unset, but Claude Code takes the working folder.
func namesNoFolder(variable string) bool {
	return slices.ContainsFunc(moved, func(m struct{ path, variable, way string }) bool { return variable == m.variable+"=" })
}

// Place returns the folder that the user chose for a path of the home, and the way from it; empty: none.
func Place(path, home string, env []string) (dir, way string) {
	for _, m := range moved {
		below, is := strings.CutPrefix(path+"/", m.path+"/")
		if at := Get(env, m.variable); is && at != "" {
			return at, filepath.Join(m.way, below)
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
func Absolute(env []string, dir string) (absolute []string) {
	for _, m := range moved {
		if at := Get(env, m.variable); at != "" && !filepath.IsAbs(at) {
			absolute = append(absolute, m.variable+"="+filepath.Join(dir, at))
		}
	}
	return absolute
}
