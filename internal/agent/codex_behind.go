package agent

import (
	"path/filepath"
	"runtime"
)

// codexBuilds are the packages that hold Codex itself, and the triples it was
// built for.
var codexBuilds = map[string]struct{ pack, triple string }{
	"linux/amd64":  {"codex-linux-x64", "x86_64-unknown-linux-musl"},
	"linux/arm64":  {"codex-linux-arm64", "aarch64-unknown-linux-musl"},
	"darwin/amd64": {"codex-darwin-x64", "x86_64-apple-darwin"},
	"darwin/arm64": {"codex-darwin-arm64", "aarch64-apple-darwin"},
}

// codexBehind is the program behind npm's wrapper, or the wrapper where none is
// found. A wrapper that is killed leaves the program working on, with our pipe.
func codexBehind(path string) string {
	wrapper, err := filepath.EvalSymlinks(path)
	build, built := codexBuilds[runtime.GOOS+"/"+runtime.GOARCH]
	if err != nil || !built || filepath.Base(wrapper) != "codex.js" {
		return path
	}
	root := filepath.Dir(filepath.Dir(wrapper)) // …/@openai/codex, of …/@openai/codex/bin/codex.js
	for _, home := range []string{
		filepath.Join(root, "node_modules", "@openai", build.pack),
		filepath.Join(filepath.Dir(root), build.pack),
		root, // as older versions had it, all in one package
	} {
		for _, folder := range []string{"bin", "codex"} {
			program := filepath.Join(home, "vendor", build.triple, folder, "codex")
			if runnable(program) == nil {
				return program
			}
		}
	}
	return path
}
