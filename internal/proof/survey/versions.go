package survey

import (
	"fmt"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Patterns of a tool and its version. The first group is the tool, or empty; the last is the version.
var (
	listed    = pattern.Of(`(?m)^(nodejs|node|python|golang|go)[ \t]+v?([0-9]+(?:\.[0-9]+){0,2})(?:[ \t].*)?\r?$`)
	assigned  = pattern.Of(`(?m)^(node|python|go)[ \t]*=[ \t]*["']v?([0-9]+(?:\.[0-9]+){0,2})["']`)
	nodeAlone = pattern.Of(`^()v?([0-9]+(?:\.[0-9]+){0,2}|lts/(?:\*|[a-z]+))\s*$`)
	alone     = pattern.Of(`^()v?([0-9]+(?:\.[0-9]+){0,2})\s*$`)
	toolchain = pattern.Of(`(?m)^()toolchain[ \t]+go([0-9]+(?:\.[0-9]+){0,2})\r?$`)
	language  = pattern.Of(`(?m)^()go[ \t]+([0-9]+(?:\.[0-9]+){0,2})\r?$`)
)

// versionFiles lists the files that name versions of tools, the strongest first.
var versionFiles = []struct {
	file, tool string
	form       *pattern.Pattern
}{
	{".tool-versions", "", listed},
	{"mise.toml", "", assigned},
	{".mise.toml", "", assigned},
	{".nvmrc", "node", nodeAlone},
	{".node-version", "node", nodeAlone},
	{".python-version", "python", alone},
	{".go-version", "go", alone},
	{"go.mod", "go", toolchain},
	{"go.mod", "go", language},
	{"go.work", "go", toolchain},
	{"go.work", "go", language},
}

// installed lists the steps that install a tool, by its names.
var installed = map[string]struct{ uses, input string }{
	"node":   {"actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0", "node-version"},
	"python": {"actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0", "python-version"},
	"go":     {"actions/setup-go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5 # v5.5.0", "go-version"},
}

// versions adds steps for tools whose version a file of these folders names, and which no step installs.
func (p *Proposal) versions(s Source, folders []string) {
	for _, folder := range folders {
		for _, entry := range versionFiles {
			from := path.Join(folder, entry.file)
			for _, found := range entry.form.FindAllStringSubmatch(string(s.Read(from)), -1) {
				tool := strings.TrimSuffix(strings.Replace(found[1], "golang", "go", 1), "js") + entry.tool
				p.install(installed[tool].uses, installed[tool].input, found[2], from)
			}
		}
	}
}

func (p *Proposal) install(uses, input, version, from string) {
	action, _, _ := strings.Cut(uses, "@")
	for _, block := range p.Steps {
		if strings.Contains(block.YAML, "uses: "+action+"@") {
			return
		}
	}
	p.Steps = append(p.Steps, Block{fmt.Sprintf("- uses: %s\n  with:\n    %s: %q\n", uses, input, version), from})
}
