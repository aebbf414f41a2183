package confine_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
)

// A program, and a file that its command names, can be read with the packages around it. A link that an agent may have put
// in place of one opens nothing outside of the folder that it lies in.
func TestLinksInPlaceOfProgramsOpenNothingElse(t *testing.T) {
	private := []string{".ssh/id", "private/node_modules/x/cli"}
	for name, test := range map[string]struct {
		files   []string
		program string
		opened  []string
	}{
		"npm":                 {[]string{".npm-global/lib/node_modules/codex/cli.js", ".npm-global/bin/codex -> .npm-global/lib/node_modules/codex/cli.js"}, ".npm-global/bin/codex", []string{".npm-global/lib/node_modules", ".npm-global/lib/node_modules/codex/cli.js"}},
		"nvm":                 {[]string{".nvm/.git/HEAD", ".nvm/v/lib/node_modules/codex/cli.js", ".nvm/v/bin/codex -> .nvm/v/lib/node_modules/codex/cli.js"}, ".nvm/v/bin/codex", []string{".nvm", ".nvm/v/lib/node_modules", ".nvm/v/lib/node_modules/codex/cli.js"}},
		"claude's own":        {[]string{".local/bin/claude -> .local/share/claude/versions/2", ".local/share/claude/versions/2"}, ".local/bin/claude", []string{".local/bin", ".local/share/claude/versions/2"}},
		"claude's older one":  {[]string{".claude/local/claude"}, ".claude/local/claude", []string{".claude/local/claude"}},
		"packages of that":    {[]string{".claude/local/node_modules/.bin/claude -> .claude/local/node_modules/c/cli.js", ".claude/local/node_modules/c/cli.js"}, ".claude/local/node_modules/.bin/claude", []string{".claude/local/node_modules", ".claude/local/node_modules/c/cli.js"}},
		"pipx":                {[]string{".local/bin/x -> .local/pipx/venvs/x/bin/x", ".local/pipx/venvs/x/bin/x"}, ".local/bin/x", []string{".local/bin", ".local/pipx", ".local/pipx/venvs/x/bin/x"}},
		"Homebrew":            {[]string{"brew/bin/codex -> brew/Cellar/codex/1/bin/codex", "brew/Cellar/codex/1/bin/codex"}, "brew/bin/codex", []string{"brew/Cellar/codex/1/bin/codex"}},
		"the project's own":   {[]string{"shop/.git/HEAD", "shop/node_modules/.bin/codex -> shop/node_modules/codex/cli.js", "shop/node_modules/codex/cli.js"}, "shop/node_modules/.bin/codex", []string{"shop/node_modules", "shop/node_modules/codex/cli.js"}},
		"a script of it":      {[]string{"shop/.git/HEAD", "shop/agent.sh -> shop/tools/agent.sh", "shop/tools/agent.sh"}, "shop/agent.sh", []string{"shop/tools/agent.sh"}},
		"a link to a file":    {[]string{"other/.git/HEAD", "other/bin/codex -> .ssh/id"}, "other/bin/codex", nil},
		"a link to packages":  {[]string{"other/.git/HEAD", "other/node_modules/.bin/codex -> private/node_modules/x/cli"}, "other/node_modules/.bin/codex", nil},
		"behind the user's":   {[]string{"other/.git/HEAD", "bin/codex -> other/codex", "other/codex -> .ssh/id"}, "bin/codex", nil},
		"where agents worked": {[]string{"marked/codex -> .ssh/id"}, "marked/codex", nil},
		"without a .git":      {[]string{"works/x", "works/codex -> .ssh/id"}, "works/codex", nil},
		"above the project":   {[]string{"above/codex -> .ssh/id"}, "above/codex", nil},
		"the agent's folder":  {[]string{".codex/x", ".codex/bin/codex -> .ssh/id"}, ".codex/bin/codex", nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := homeWith(t, slices.Concat(private, test.files)...)
			path := filepath.Join(home, test.program)
			asked := confine.Options{
				Home: home, Reach: []string{filepath.Join(home, "works")}, Above: []string{filepath.Join(home, "above")},
				State:    agent.State{Folders: map[string][]string{".codex": nil}},
				Confined: func(dir string) bool { return dir == filepath.Join(home, "marked") },
			}
			for _, read := range [][]string{
				confine.Program(path, agent.Adapter{Argv: func(agent.Order) []string { return []string{"codex", "/nowhere", home, "-p"} }}),
				confine.Program("/bin/sh", agent.Adapter{Argv: func(agent.Order) []string { return []string{"codex", path} }}),
			} {
				asked.Read = read
				var got []string
				for _, place := range confine.Opened(asked) {
					if way, within := strings.CutPrefix(place, home+"/"); within {
						got = append(got, way)
					}
				}
				slices.Sort(got)
				if diff := cmp.Diff(test.opened, slices.Compact(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}
