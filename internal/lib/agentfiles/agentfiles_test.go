package agentfiles_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/agentfiles"
)

func TestHas(t *testing.T) {
	all := agentfiles.All()
	for path, want := range map[string]bool{
		"CLAUDE.md": true, "claude.MD": true, "shop/Agents.md": true, ".mcp.json": true,
		"a/b/.Claude/skills/x/SKILL.md": true, ".cursor/rules": true,
		"CLAUDE.md.txt": false, "MY-CLAUDE.md": false, "CLAUDE.md/x": false,
		".claude": false, ".claudette/x": false, "my.claude/x": false, "": false,
	} {
		if got := all.Has(path); got != want {
			t.Errorf("%q: %t, want %t", path, got, want)
		}
	}
	if files, known := agentfiles.Of("codex"); !known || files.Has("CLAUDE.md") || !files.Has("AGENTS.override.md") {
		t.Errorf("files of codex: %+v, %t", files, known)
	}
}

func TestGlobs(t *testing.T) {
	files, _ := agentfiles.Of("gemini")
	if got, want := files.Globs(), []string{"GEMINI.md", ".geminiignore", ".gemini/**"}; !slices.Equal(got, want) {
		t.Errorf("globs %q, want %q", got, want)
	}
}
