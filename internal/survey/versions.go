package survey

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Patterns of a tool and its version. The first group is the tool, or empty; the last is the version.
var (
	listed    = pattern.Of(`(?m)^(nodejs|node|python|golang|go)[ \t]+v?([0-9]+(?:\.[0-9]+){0,2})(?:[ \t].*)?\r?$`)
	assigned  = pattern.Of(`(?m)^(node|python|go)[ \t]*=[ \t]*["']v?([0-9]+(?:\.[0-9]+){0,2})["']`)
	nodeAlone = pattern.Of(`^()v?([0-9]+(?:\.[0-9]+){0,2}|lts/(?:\*|[a-z]+))\s*$`)
	alone     = pattern.Of(`^()v?([0-9]+(?:\.[0-9]+){0,2})\s*$`)
	toolchain = pattern.Of(`(?m)^()toolchain[ \t]+go([0-9]+(?:\.[0-9]+){0,2})\r?$`)
	language  = pattern.Of(`(?m)^()go[ \t]+([0-9]+(?:\.[0-9]+){0,2})\r?$`)
	image     = pattern.Of(`(?mi)^FROM[ \t]+(?:--platform=\S+[ \t]+)?(?:docker\.io/)?(?:library/)?(node|python|golang):([0-9]+(?:\.[0-9]+){0,2})(?:[-@\s]|$)`)
	devImage  = pattern.Of(`(?m)^FROM mcr\.microsoft\.com/(?:vscode/)?devcontainers/(?:javascript-|typescript-)?(node|python|go):(?:[0-9.]+-)?([0-9]+(?:\.[0-9]+){0,2})(?:[-@\s]|$)`)
	feature   = pattern.Of(`/features/(node|python|go):`)
)

const inContainer = "devcontainer" // the file of a devcontainer, in any folder

// says lists the files that name versions of tools, the strongest first.
var says = []struct {
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
	{inContainer, "", listed},
	{inContainer, "", devImage},
	{inContainer, "", image},
	{".devcontainer/Dockerfile", "", image},
	{"Dockerfile", "", image},
}

// installed lists the steps that install a tool, by its names.
var installed = map[string]struct{ uses, input string }{
	"node":   {"actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0", "node-version"},
	"python": {"actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0", "python-version"},
	"go":     {"actions/setup-go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5 # v5.5.0", "go-version"},
}

// versions adds steps for tools whose version a file names, and which no step installs.
func (p *Proposal) versions(s Source, container devcontainer) {
	for _, one := range says {
		from, said := one.file, string(s.Read(one.file))
		if from == inContainer {
			from, said = container.from, container.says
		}
		for _, found := range one.form.FindAllStringSubmatch(said, -1) {
			tool := strings.TrimSuffix(strings.Replace(strings.ToLower(found[1]), "golang", "go", 1), "js") + one.tool
			step := installed[tool]
			action, _, _ := strings.Cut(step.uses, "@")
			if !slices.ContainsFunc(p.Steps, func(b Block) bool { return strings.Contains(b.YAML, "uses: "+action+"@") }) {
				p.Steps = append(p.Steps, Block{fmt.Sprintf("- uses: %s\n  with:\n    %s: %q\n", step.uses, step.input, found[2]), from})
			}
		}
	}
}

// devcontainer is the setup of a devcontainer, with the versions of tools as in a Dockerfile.
type devcontainer struct {
	from  string
	says  string
	setup []Command
}

// container reads devcontainer.json, which is JSON with comments.
func (p *Proposal) container(s Source) (c devcontainer) {
	var text []byte
	for _, c.from = range []string{".devcontainer/devcontainer.json", ".devcontainer.json"} {
		if text = s.Read(c.from); text != nil {
			break
		}
	}
	if text == nil {
		return c
	}
	var file struct {
		Image    string
		Features map[string]any

		OnCreateCommand, UpdateContentCommand, PostCreateCommand any
	}
	standard, err := hujson.Standardize(text)
	if err != nil || json.Unmarshal(standard, &file) != nil {
		p.Ignored = append(p.Ignored, c.from+" is ignored: not a readable devcontainer")
		return c
	}
	c.says = "FROM " + strings.Map(printed, file.Image) + "\n"
	for _, name := range slices.Sorted(maps.Keys(file.Features)) {
		options, _ := file.Features[name].(map[string]any)
		if tool := feature.FindStringSubmatch(name); tool != nil {
			c.says += tool[1] + " " + strings.Map(printed, fmt.Sprint(options["version"])) + "\n"
		}
	}
	for _, command := range []any{file.OnCreateCommand, file.UpdateContentCommand, file.PostCreateCommand} {
		c.setup = append(c.setup, p.commands(workflowJob{from: c.from, Steps: steps(command)})...)
	}
	c.setup = slices.DeleteFunc(c.setup, func(c Command) bool { return asRoot.MatchString(c.Command) })
	return c
}

func printed(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return -1
}

// steps returns a devcontainer's command, or several by name, as the steps of a job.
func steps(command any) (all []map[string]any) {
	switch command := command.(type) {
	case string:
		return []map[string]any{{"run": command}}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(command)) {
			all = append(all, map[string]any{"run": command[name]})
		}
	}
	return all
}
