package agent_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
)

// npm's wrapper is a script beside, above or around the program itself.
func TestCodexBehindItsWrapper(t *testing.T) {
	builds := map[string][2]string{
		"linux/amd64":  {"codex-linux-x64", "x86_64-unknown-linux-musl"},
		"linux/arm64":  {"codex-linux-arm64", "aarch64-unknown-linux-musl"},
		"darwin/amd64": {"codex-darwin-x64", "x86_64-apple-darwin"},
		"darwin/arm64": {"codex-darwin-arm64", "aarch64-apple-darwin"},
	}
	build := builds[runtime.GOOS+"/"+runtime.GOARCH]
	const wrapper = "lib/node_modules/@openai/codex/bin/codex.js"
	tests := map[string]struct{ wrapper, program, want string }{
		"a package beside it":      {wrapper, "lib/node_modules/@openai/" + build[0] + "/vendor/" + build[1] + "/bin/codex", "program"},
		"a package of its own":     {wrapper, "lib/node_modules/@openai/codex/node_modules/@openai/" + build[0] + "/vendor/" + build[1] + "/bin/codex", "program"},
		"another machine's":        {wrapper, "lib/node_modules/@openai/codex/vendor/vax/bin/codex", "link"},
		"something else's wrapper": {"lib/own/codex", "lib/own/vendor/" + build[1] + "/bin/codex", "link"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(dir, "bin", "codex")
			paths := map[string]string{"link": link, "program": filepath.Join(dir, test.program)}
			for _, path := range []string{link, paths["program"], filepath.Join(dir, test.wrapper)} {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join("..", test.wrapper), link); err != nil {
				t.Fatal(err)
			}
			s := agenttest.New(t, "codex", agent.Options{})
			s.Env = []string{"PATH=" + filepath.Dir(link)}
			if got, err := s.Adapter.Locate(s.Env, s.Dir); err != nil || got != paths[test.want] {
				t.Errorf("Ready = %q, %v, want %q", got, err, paths[test.want])
			}
		})
	}
}
