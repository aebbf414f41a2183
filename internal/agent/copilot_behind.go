package agent

import (
	"path/filepath"
	"runtime"
)

// copilotBuilds are the packages that hold Copilot itself, the likelier first.
var copilotBuilds = map[string][]string{
	"linux/amd64":  {"copilot-linux-x64", "copilot-linuxmusl-x64"},
	"linux/arm64":  {"copilot-linux-arm64", "copilot-linuxmusl-arm64"},
	"darwin/amd64": {"copilot-darwin-x64"},
	"darwin/arm64": {"copilot-darwin-arm64"},
}

// copilotBehind is the program behind npm's wrapper, or the wrapper where none
// is found. The wrapper waits for it in a way that hears no signal.
func copilotBehind(path string) string {
	wrapper, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Base(wrapper) != "npm-loader.js" {
		return path
	}
	root := filepath.Dir(wrapper) // …/@github/copilot
	for _, home := range []string{filepath.Join(root, "node_modules", "@github"), filepath.Dir(root)} {
		var found []string
		for _, build := range copilotBuilds[runtime.GOOS+"/"+runtime.GOARCH] {
			if program := filepath.Join(home, build, "copilot"); runnable(program) == nil {
				found = append(found, program)
			}
		}
		if len(found) == 1 { // of two, the wrapper knows which C library is here
			return found[0]
		}
	}
	return path
}
