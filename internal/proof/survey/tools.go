package survey

import (
	"path"
	"slices"
	"strings"
)

// Tool is a step of a workflow that sets up a tool on the runner: an action with its version, or a command.
type Tool struct {
	Uses    string
	Version string // the input and its value, as YAML
	Run     string
	From    string // the file that suggests it
	IsRead  bool   // the action reads the version from a file of the checkout
}

// setups lists the steps that programs of checks need. The runners of GitHub have the other programs.
var setups = []struct {
	programs []string
	uses     string
	input    string
	usual    string   // the version where no file names one
	files    []string // that name one
	run      string
}{
	{
		programs: []string{"go"},
		uses:     "actions/setup-go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5 # v5.5.0",
		input:    "go-version", usual: "stable", files: []string{"go.work", "go.mod"},
	},
	{
		programs: []string{"npm", "pnpm", "yarn", "bun"},
		uses:     "actions/setup-node@49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0",
		input:    "node-version", usual: "lts/*", files: []string{".nvmrc", ".node-version"},
	},
	{
		programs: []string{"python3", "poetry"},
		uses:     "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0",
		input:    "python-version", usual: "3.x", files: []string{".python-version"},
	},
	{programs: []string{"pnpm"}, run: "npm install --global pnpm"},
	{programs: []string{"bun"}, run: "npm install --global bun"},
	{programs: []string{"uv"}, run: "pipx install uv"},
	{programs: []string{"poetry"}, run: "pipx install poetry"},
}

// tools returns the steps that set up what the checks start.
func (s Source) tools(checks []Command) []Tool {
	var found []Tool
	for _, setup := range setups {
		i := slices.IndexFunc(checks, func(c Command) bool { return slices.Contains(setup.programs, c.program()) })
		if i < 0 {
			continue
		}
		tool := Tool{Uses: setup.uses, Run: setup.run, From: checks[i].From}
		if setup.uses != "" {
			tool.Version = setup.input + `: "` + setup.usual + `"`
		}
		if file := s.nearest(path.Dir(checks[i].From), setup.files); file != "" {
			tool.Version = setup.input + "-file: " + file
			tool.From = file
			tool.IsRead = true
		}
		found = append(found, tool)
	}
	return found
}

// program returns what a check starts, in its folder.
func (c Command) program() string {
	words := strings.Fields(c.Command)
	if words[0] == "cd" {
		return words[3]
	}
	return words[0]
}

// nearest returns the first of some files that is in the folder, or else at the top.
func (s Source) nearest(folder string, files []string) string {
	for _, dir := range []string{folder, "."} {
		for _, name := range files {
			if file := path.Join(dir, name); s.Read(file) != nil {
				return file
			}
		}
	}
	return ""
}
