package agent

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Settled is what of an agent's State its user alone says, or runs: by it the
// agent starts hooks, servers and commands where no wall is.
type Settled struct {
	Paths  []string            // files and folders, none of them large
	Fields map[string][]string // of JSON files that hold login or session besides, by their way down; * is any name
	Code   []string            // of the agent itself and its extensions, in folders of any size
}

// And is what either says; they are of agents that stand behind one wall.
func (s Settled) And(other Settled) Settled {
	all := Settled{Paths: slices.Concat(s.Paths, other.Paths), Fields: map[string][]string{}, Code: slices.Concat(s.Code, other.Code)}
	maps.Copy(all.Fields, s.Fields)
	for file, fields := range other.Fields {
		all.Fields[file] = slices.Concat(all.Fields[file], fields)
	}
	return all
}

// Local are the files in a project that are its user's alone, which git leaves out
// and no change of the work shows: an agent that is started there runs what they say.
func Local(project string) (paths []string) {
	for _, name := range []string{".claude/settings.local.json", ".gemini/.env"} {
		path := filepath.Join(project, filepath.FromSlash(name))
		if info, err := os.Lstat(filepath.Dir(path)); err == nil && !info.IsDir() {
			continue // what a link leads to is not the project's
		}
		paths = append(paths, path)
	}
	return paths
}

// claudeFields are of the file in which Claude Code keeps all that it knows of its
// user and of each project.
var claudeFields = []string{
	"mcpServers", "hooks", "env", "apiKeyHelper", "permissions", "enabledPlugins", "extraKnownMarketplaces", "bypassPermissionsModeAccepted",
	"customApiKeyResponses", "projects.*.mcpServers", "projects.*.enabledMcpjsonServers", "projects.*.enableAllProjectMcpServers",
	"projects.*.allowedTools", "projects.*.hasTrustDialogAccepted", "projects.*.hasTrustDialogHooksAccepted",
	"projects.*.hasClaudeMdExternalIncludesApproved",
}

// copilotFields have two spellings each: it changed them.
var copilotFields = []string{
	"hooks", "mcpServers", "lspServers", "marketplaces", "extraKnownMarketplaces", "enabledPlugins", "installedPlugins", "installed_plugins",
	"trustedFolders", "trusted_folders", "allowedUrls", "allowed_urls", "allowedTools", "allowed_tools", "bashEnv", "bash_env",
}
