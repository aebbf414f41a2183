// Package instructions finds what a project tells agents: CLAUDE.md, AGENTS.md and their like, rules, skills and custom
// agents. It takes the files of the base commit and returns a section for the prompt, the same for every agent CLI. It
// also keeps other versions of these files out of the tree while an agent works there.
package instructions

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/agentfiles"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Limits for a prompt. The rest is named, with a command that prints it.
const (
	maxFile        = 64 << 10
	maxText        = 96 << 10
	maxFrontMatter = 2 << 10 // of a skill or an agent
	maxNamed       = 200     // skills and agents
)

// Source is where instructions are read from.
type Source struct {
	Commit string
	Files  []string                 // slash paths from the top
	Read   func(name string) string // "" for a file that is missing, too large or a link
}

var (
	files   = agentfiles.All()
	folders = append(files.Folders, ".github")

	// Of these files, agents read some without asking.
	ofGitHub = pattern.Of(`(?i)(?:^|/)\.github/(?:agents|skills|instructions|prompts|hooks|copilot)(?:/|$)`)
	rules    = pattern.Of(`(?i)(?:^|/)(?:\.claude/rules/|\.github/instructions/.*\.instructions\.md$)`)
)

// governs reports whether an agent CLI may read the file by itself.
func governs(name string) bool {
	return files.Has(name) || isInstruction(name) || ofGitHub.MatchString(name)
}

// isInstruction reports whether a file has people's instructions, which are shown in full.
func isInstruction(name string) bool {
	hasName := func(known string) bool { return strings.EqualFold(known, path.Base(name)) }
	return slices.ContainsFunc(files.Instructions, hasName) || rules.MatchString(name)
}

// isSkill reports whether a file is a skill, which is named to every agent by its front matter.
func isSkill(name string) bool {
	rest := belowFolder(name, "skill")
	return path.Base(name) == "SKILL.md" && strings.Contains(rest, "/")
}

// isCustomAgent reports whether a file is a custom agent.
func isCustomAgent(name string) bool { return strings.HasSuffix(belowFolder(name, "agent"), ".md") }

// belowFolder returns the path from an agent's folder of skills or agents to the file; empty: it is not there.
func belowFolder(name, kind string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts[:len(parts)-1] {
		if slices.Contains(folders, part) && strings.TrimSuffix(parts[i+1], "s") == kind {
			return path.Join(parts[i+2:]...)
		}
	}
	return ""
}

// Text returns the section for the prompt; empty where the project has no instructions.
func (s Source) Text() string {
	var b strings.Builder
	texts, left := s.texts()
	for _, t := range texts {
		fmt.Fprintf(&b, "\n<file path=%q>\n%s\n</file>\n", t.name, t.text)
	}
	if len(left) > 0 {
		b.WriteString("\nToo long to be shown here. Read them before you change files beside or below them:\n\n")
		b.WriteString(s.list(left))
	}
	skills := s.matching(isSkill)
	if len(skills) > 0 {
		b.WriteString("\n## Skills\n\nRead a skill before work that its description fits.\n\n")
		b.WriteString(s.list(skills))
	}
	agents := s.matching(isCustomAgent)
	if len(agents) > 0 {
		b.WriteString("\n## Custom agents\n\n" +
			"Where you can start sub-agents, give one that fits the text of its file.\n\n")
		b.WriteString(s.list(agents))
	}
	if b.Len() == 0 {
		return ""
	}
	return s.head() + b.String() + "\n"
}

func (s Source) head() string {
	return "# Instructions of this project\n\n" +
		"The project's maintainers wrote these files for agents. Follow them in this work. " +
		"A file in a folder holds for that folder and those below it. " +
		fmt.Sprintf("They are as of the base commit: `git show %.12s:PATH` prints one. ", s.Commit) +
		"Versions of them in your working tree do not count.\n"
}

type named struct{ name, text string }

// texts returns the files in full, outer folders first, and the names of those that are too long.
func (s Source) texts() (all []named, left []string) {
	var names []string
	for _, name := range s.Files {
		if isInstruction(name) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	size := 0
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		text := tidy(s.Read(name), maxFile)
		copied := path.Dir(name) + "\x00" + text // a copy, such as CLAUDE.md of AGENTS.md
		if text == "" || seen[copied] {
			return
		}
		if size+len(text) > maxText {
			left = append(left, name)
			return
		}
		seen[copied] = true
		size += len(text)
		all = append(all, named{name, text})
		for _, imported := range importsOf(name, text) {
			if slices.Contains(s.Files, imported) {
				add(imported)
			}
		}
	}
	for _, name := range names {
		add(name)
	}
	return all, left
}

var imported = pattern.Of(`(?m)(?:^|[\s(])@((?:\.{1,2}/)*[\w.-][\w./-]*\w)`)

// importsOf returns the paths that a text imports, also those that do not exist.
func importsOf(name, text string) []string {
	var paths []string
	for _, m := range imported.FindAllStringSubmatch(text, -1) {
		paths = append(paths, path.Join(path.Dir(name), m[1]))
	}
	return paths
}

func (s Source) matching(wanted func(name string) bool) []string {
	var names []string
	for _, name := range s.Files {
		if wanted(name) && len(names) < maxNamed {
			names = append(names, name)
		}
	}
	return names
}

func (s Source) list(names []string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "- `%s`\n", clean.Inline(name, 300))
		rest, opened := strings.CutPrefix(s.Read(name), "---\n")
		frontMatter, _, closed := strings.Cut(rest, "\n---")
		if opened && closed {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(tidy(frontMatter, maxFrontMatter), "\n", "\n  "))
		}
	}
	return b.String()
}

func tidy(text string, limit int) string {
	text = clean.Visible(strings.TrimSpace(text))
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "\n… (cut)"
	}
	return strings.ReplaceAll(text, "</file>", "<\\/file>")
}
