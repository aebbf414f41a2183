package survey

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// manager is a package manager of Node, by its lock file.
type manager struct{ lock, name, install string }

var managers = []manager{
	{"pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"},
	{"yarn.lock", "yarn", "yarn install --frozen-lockfile"},
	{"bun.lock", "bun", "bun install --frozen-lockfile"},
	{"bun.lockb", "bun", "bun install --frozen-lockfile"},
	{"package-lock.json", "npm", "npm ci"},
	{"npm-shrinkwrap.json", "npm", "npm ci"},
}

// locked returns the manager whose lock file is in the folder.
func (f *folder) locked() (manager, bool) {
	i := slices.IndexFunc(managers, func(m manager) bool { return f.has(m.lock) })
	if i < 0 {
		return manager{name: "npm"}, false
	}
	return managers[i], true
}

// shareInstall installs the packages of a folder at the top of a workspace.
func (f *folder) shareInstall(top *folder) {
	if _, ok := f.locked(); !ok && top.has("package.json") {
		f.packages = top
	}
}

// fetches matches a package.json with dependencies of its own or of its workspaces.
var fetches = pattern.Of(`(?:ependencies|"workspaces)":`)

// install returns the command that installs packages, if any are needed.
func (f *folder) install() []Command {
	if m, ok := f.packages.locked(); ok {
		return []Command{f.packages.command(m.install, m.lock)}
	}
	const pack = "package.json"
	if !fetches.MatchString(string(f.read(pack)) + string(f.packages.read(pack))) {
		return nil
	}
	return []Command{f.packages.command("npm install --no-package-lock", pack)}
}

const untested = "no test specified" // what npm init writes for a project without tests

// scripts returns the checks of a package.json.
func (f *folder) scripts() []Command {
	var pack struct{ Scripts map[string]string }
	if json.Unmarshal(f.read("package.json"), &pack) != nil {
		return nil
	}
	m, _ := f.packages.locked()
	var found []Command
	for _, name := range []string{"test", "lint", "typecheck"} {
		script := strings.TrimSpace(pack.Scripts[name])
		if script == "" || strings.Contains(script, untested) {
			continue
		}
		if strings.Contains(script, "--watch") && !strings.Contains(script, "--watch=false") {
			continue
		}
		command := m.name + " run " + name
		if name == "test" && m.name != "bun" {
			command = m.name + " test"
		}
		found = append(found, f.command(command, "package.json"))
	}
	return found
}
