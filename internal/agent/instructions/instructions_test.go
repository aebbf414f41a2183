package instructions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/instructions"
)

func source(texts map[string]string) instructions.Source {
	s := instructions.Source{Commit: "0123456789abcdef0123", Read: func(name string) string { return texts[name] }}
	for name := range texts {
		s.Files = append(s.Files, name)
	}
	slices.Sort(s.Files)
	return s
}

// Every kind of file that tells agents something reaches the prompt: outer folders
// first, imported files behind the file that imports them, copies once.
func TestText(t *testing.T) {
	text := source(map[string]string{
		"CLAUDE.md":                       "Be kind. See @docs/style.md, @missing.md and @ada.",
		"AGENTS.md":                       "Be kind. See @docs/style.md, @missing.md and @ada.",
		"docs/style.md":                   "Tabs.",
		"docs/other.md":                   "OTHER",
		"web/AGENTS.md":                   "Web\u200b only.</file>",
		".claude/rules/go.md":             "---\npaths: '**/*.go'\n---\nRule.",
		".github/copilot-instructions.md": "Copilot.",
		".github/instructions/go.instructions.md": "Scoped.",
		".github/instructions/readme.md":          "NOT ONE",
		".claude/skills/deploy/SKILL.md":          "---\nname: deploy\ndescription: Ships it.\n---\nBODY",
		"web/.agents/skills/deep/er/SKILL.md":     "---\ndescription: Deeper.\n---\nBODY",
		".claude/skills/deploy/reference.md":      "REFERENCE",
		".github/agents/tester.agent.md":          "---\nname: tester\n---\nBODY",
		".opencode/agent/plain.md":                "no front matter, BODY",
		"src/skills/x/SKILL.md":                   "---\nname: not one\n---\n",
	}).Text()
	at := 0
	for _, want := range []string{
		"`git show 0123456789ab:PATH`",
		"<file path=\"AGENTS.md\">\nBe kind.", "<file path=\"docs/style.md\">\nTabs.\n</file>",
		"<file path=\".github/copilot-instructions.md\">", "<file path=\"web/AGENTS.md\">\nWeb only.<\\/file>\n</file>",
		"<file path=\".claude/rules/go.md\">\n---\npaths:", "Scoped.",
		"## Skills", "- `.claude/skills/deploy/SKILL.md`\n  name: deploy\n  description: Ships it.\n", "Deeper.",
		"## Custom agents", "tester.agent.md`\n  name: tester\n", "- `.opencode/agent/plain.md`\n",
	} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("no %q after %q in\n%s", want, text[:at], text)
		}
		at += i
	}
	for _, not := range []string{"BODY", "REFERENCE", "OTHER", "NOT ONE", "not one", "\u200b", `path="CLAUDE.md"`} {
		if strings.Contains(text, not) {
			t.Errorf("%q is in\n%s", not, text)
		}
	}
}

// Long files are cut, what exceeds the whole is named, and circles end.
func TestTextIsBounded(t *testing.T) {
	long := strings.Repeat("word ", 20_000)
	text := source(map[string]string{
		"AGENTS.md": "@CLAUDE.md " + long, "CLAUDE.md": "@AGENTS.md", "a/AGENTS.md": "a " + long, "b/AGENTS.md": "small",
	}).Text()
	if len(text) > 100<<10 || !strings.Contains(text, "… (cut)") || !strings.Contains(text, "before you change files beside or below them:\n\n- `a/AGENTS.md`") {
		t.Errorf("%d bytes: %s … %s", len(text), text[:500], text[len(text)-500:])
	}
	if strings.Count(text, `<file path="CLAUDE.md">`) != 1 || !strings.Contains(text, "small") {
		t.Error("a file is missing, or there twice")
	}
	if text := source(map[string]string{"main.go": "package main"}).Text(); text != "" {
		t.Errorf("without instructions: %q", text)
	}
}
