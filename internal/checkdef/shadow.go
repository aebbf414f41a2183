package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Some files take the place of what a tool would have found elsewhere: of the
// runner itself, or of settings. Those that the base has are the project's own
// and its work; one that comes defines the checks.

// modules shadow, in the folder that python starts in, the runners and what tests compare with.
var modules = strings.Fields(`unittest pytest _pytest pluggy coverage sitecustomize usercustomize
argparse contextlib difflib fnmatch functools inspect logging pprint signal traceback
doctest filecmp json re math decimal fractions operator csv hashlib datetime subprocess tempfile shutil collections copy`)

// shadow is what a tool finds in the folder it is started in, or in one above.
type shadow struct {
	files []string // in the folder
	above []string // in the folder and in all above it
	both  []string // all of each, new or not
}

var (
	pythons = shadow{files: pythonModules()}
	nodes   = shadow{both: []string{".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml"}}
	shadows = map[string]shadow{
		"python": pythons, "pytest": pythons, "py.test": pythons, "tox": pythons, "nox": pythons, "coverage": pythons, "nose2": pythons,
		"npm": nodes, "npx": nodes, "pnpm": nodes, "pnpx": nodes, "yarn": nodes, "bun": nodes, "bunx": nodes,
		"jest": binary("jest"), "vitest": binary("vitest"), "mocha": binary("mocha"), "ava": binary("ava"), "eslint": binary("eslint"), "tsc": binary("tsc"),
		"go":    {above: []string{"go.work"}},
		"cargo": {above: []string{".cargo/config"}, files: []string{"rust-toolchain", "rust-toolchain.toml"}},
		"mvn":   maven, "mvnw": maven,
		"bazel": {both: []string{".bazelrc", ".bazelversion", "tools/bazel"}}, "bazelisk": {both: []string{".bazelrc", ".bazelversion", "tools/bazel"}},
	}
	maven = shadow{both: []string{".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml"}}
)

// binary is what a runner of node's is, where it lies among the project's files.
func binary(tool string) shadow {
	return shadow{files: []string{tool + ".js", "node_modules/.bin/" + tool}}
}

func pythonModules() []string {
	var all []string
	for _, module := range modules {
		all = append(all, module+".py", module+"/__init__.py")
	}
	return all
}

// shaded takes hold of what would be found before what a tool is, or reads.
func (t *trail) shaded(tool, dir string) {
	if interpreter.MatchString(tool) {
		tool = "python"
	}
	of := shadows[tool]
	for _, name := range of.both {
		t.all(path.Join(dir, name))
	}
	for _, name := range of.files {
		t.fresh(path.Join(dir, name))
	}
	for at := path.Clean(dir); len(of.above) > 0; at = path.Dir(at) {
		for _, name := range of.above {
			t.fresh(path.Join(at, name))
		}
		if at == "." {
			return
		}
	}
}

var interpreter = pattern.Of(`^python[0-9.]*$`)

// fresh takes hold of a file as far as the base has none.
func (t *trail) fresh(name string) {
	if _, held := t.led[name]; !held {
		t.led[name] = grasp{whole: true, fresh: true}
	}
}

func keyLines(text []byte, parts []string) (all []string) {
	for line := range strings.Lines(string(text)) {
		key, _, _ := strings.Cut(line, "=")
		key = strings.ToLower(strings.NewReplacer("_", "-", `"`, "", "'", "", "[]", "").Replace(strings.TrimSpace(key)))
		if slices.Contains(parts, key) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// hooking is what of a conftest.py has a say in what counts: fixtures have none.
var hooking = pattern.Of(`(?m)\bpytest_\w+|\bcollect_ignore|^\s*(import|from)\s+_pytest\b|\bsys\s*\.\s*modules\b|\bos\s*\.\s*_exit\b|\bTestCase\b\s*\.`)
