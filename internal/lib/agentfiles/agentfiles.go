// Package agentfiles says which files of a project and of a home belong to which agent. Each agent of package agent
// has a row here. The other rows are agents that the people of a project may use themselves.
package agentfiles

import (
	"maps"
	"slices"
	"strings"
)

// Files are an agent's files.
type Files struct {
	Instructions []string // names of files in any folder that tell it what to do
	Folders      []string // of a project, with its settings, rules, skills and hooks
	Settings     []string // names or globs of other files that set it up
	Moved        []Moved
}

// Moved is a path of the home that a variable places elsewhere: at Below in the folder that it names.
type Moved struct{ Path, Variable, Below string }

var agents = map[string]Files{
	"claude": {
		Instructions: []string{"CLAUDE.md", "CLAUDE.local.md"}, Folders: []string{".claude"},
		Moved: []Moved{{".claude", "CLAUDE_CONFIG_DIR", ""}, {".claude.json", "CLAUDE_CONFIG_DIR", ".claude.json"}},
	},
	"codex": {
		Instructions: []string{"AGENTS.override.md"}, Folders: []string{".codex"},
		Moved: []Moved{{".codex", "CODEX_HOME", ""}},
	},
	"gemini": {
		Instructions: []string{"GEMINI.md"}, Folders: []string{".gemini"}, Settings: []string{".geminiignore"},
		Moved: []Moved{{".gemini", "GEMINI_CLI_HOME", ".gemini"}},
	},
	"opencode": {
		Folders: []string{".opencode"}, Settings: []string{"opencode.json", "opencode.jsonc"},
		Moved: []Moved{
			{"$OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_DIR", ""},
			{"$OPENCODE_CONFIG", "OPENCODE_CONFIG", ""},
		},
	},
	"copilot": {
		Instructions: []string{"copilot-instructions.md"}, Folders: []string{".copilot"},
		Moved: []Moved{{".copilot", "COPILOT_HOME", ""}},
	},
	"qwen":   {Instructions: []string{"QWEN.md"}, Folders: []string{".qwen"}},
	"goose":  {Instructions: []string{".goosehints"}, Folders: []string{".goose"}},
	"cursor": {Folders: []string{".cursor"}, Settings: []string{".cursorrules"}},
	"amp":    {Instructions: []string{"AGENT.md"}, Folders: []string{".amp"}},

	"any": {
		Instructions: []string{"AGENTS.md"}, Folders: []string{".agents"},
		Settings: []string{".mcp.json", "CONTEXT.md"},
	},
	"windsurf": {Folders: []string{".windsurf"}, Settings: []string{".windsurfrules"}},
	"cline":    {Folders: []string{".clinerules"}},
	"roo":      {Folders: []string{".roo"}},
	"kiro":     {Folders: []string{".kiro"}},
	"junie":    {Folders: []string{".junie"}},
	"continue": {Folders: []string{".continue"}},
	"aider":    {Settings: []string{".aider.conf.yml"}},
}

// Of returns the files of an agent.
func Of(name string) (Files, bool) {
	files, known := agents[name]
	return files, known
}

// All returns the files of all agents together.
func All() Files {
	var all Files
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		files := agents[name]
		all.Instructions = append(all.Instructions, files.Instructions...)
		all.Folders = append(all.Folders, files.Folders...)
		all.Settings = append(all.Settings, files.Settings...)
		all.Moved = append(all.Moved, files.Moved...)
	}
	return all
}

// Globs match all files of f.
func (f Files) Globs() []string {
	globs := slices.Concat(f.Instructions, f.Settings)
	for _, folder := range f.Folders {
		globs = append(globs, folder+"/**")
	}
	return globs
}

// Has reports whether a path of a project is one of f, no matter how its letters are written.
func (f Files) Has(path string) bool {
	parts := strings.Split(path, "/")
	name := parts[len(parts)-1]
	if containsName(f.Instructions, name) || containsName(f.Settings, name) {
		return true
	}
	return slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool { return containsName(f.Folders, part) })
}

func containsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
}
