package checkdef

import (
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Some files take the place of what a tool would have found elsewhere: of the
// runner itself, or of settings. Those that the base has are the project's own
// and its work; one that comes defines the checks.

// shadowingModules shadow, in the folder that python starts in, the runners and what tests compare with.
var shadowingModules = strings.Fields(`unittest pytest _pytest pluggy coverage sitecustomize usercustomize
argparse contextlib difflib fnmatch functools inspect logging pprint signal traceback
doctest filecmp json re math decimal fractions operator csv hashlib datetime subprocess tempfile shutil collections copy`)

// shadowing is what a tool finds in the folder it is started in, or in one above.
type shadowing struct {
	inFolder        []string // in the folder
	inFolderOrAbove []string // in the folder and in all above it
	always          []string // all of each, new or not
}

var (
	pythonShadows = shadowing{inFolder: pythonModules()}
	nodeShadows   = shadowing{always: []string{".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml"}}
	shadows       = map[string]shadowing{
		"python": pythonShadows, "pytest": pythonShadows, "py.test": pythonShadows, "tox": pythonShadows, "nox": pythonShadows, "coverage": pythonShadows, "nose2": pythonShadows,
		"npm": nodeShadows, "npx": nodeShadows, "pnpm": nodeShadows, "pnpx": nodeShadows, "yarn": nodeShadows, "bun": nodeShadows, "bunx": nodeShadows,
		"jest": nodeBinary("jest"), "vitest": nodeBinary("vitest"), "mocha": nodeBinary("mocha"), "ava": nodeBinary("ava"), "eslint": nodeBinary("eslint"), "tsc": nodeBinary("tsc"),
		"go":    {inFolderOrAbove: []string{"go.work"}},
		"cargo": {inFolderOrAbove: []string{".cargo/config"}, inFolder: []string{"rust-toolchain", "rust-toolchain.toml"}},
		"mvn":   mavenShadows, "mvnw": mavenShadows, "gradlew": {always: []string{"gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"}},
		"bazel": {always: []string{".bazelrc", ".bazelversion", "tools/bazel"}}, "bazelisk": {always: []string{".bazelrc", ".bazelversion", "tools/bazel"}},
	}
	mavenShadows = shadowing{always: []string{".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml", ".mvn/wrapper/maven-wrapper.properties", ".mvn/wrapper/maven-wrapper.jar"}}
)

// nodeBinary is what a runner of node's is, where it lies among the project's files.
func nodeBinary(tool string) shadowing {
	return shadowing{inFolder: []string{tool + ".js", "node_modules/.bin/" + tool}}
}

func pythonModules() []string {
	var all []string
	for _, module := range shadowingModules {
		all = append(all, module+".py", module+"/__init__.py")
	}
	return all
}

// addShadowing adds what would be found before what a tool is, or reads.
func (f *follower) addShadowing(tool, dir string) {
	if interpreter.MatchString(tool) {
		tool = "python"
	}
	of := shadows[tool]
	for _, name := range of.always {
		f.addWhole(path.Join(dir, name))
	}
	for _, name := range of.inFolder {
		f.addIfNew(path.Join(dir, name))
	}
	for at := path.Clean(dir); len(of.inFolderOrAbove) > 0; at = path.Dir(at) {
		for _, name := range of.inFolderOrAbove {
			f.addIfNew(path.Join(at, name))
		}
		if at == "." {
			return
		}
	}
}

var interpreter = pattern.Of(`^python[0-9.]*$`)

// addIfNew adds a file that the base does not have.
func (f *follower) addIfNew(name string) {
	if _, held := f.defining[name]; !held {
		f.defining[name] = definition{whole: true, onlyNew: true}
	}
}

// pytestHooks hooks into pytest if it has words of hooksIntoPytest: fixtures have no say in what counts.
const pytestHooks = "conftest.py"

var hooksIntoPytest = pattern.Of(`(?m)\bpytest_\w+|\bcollect_ignore|^\s*(import|from)\s+_pytest\b|\bsys\s*\.\s*modules\b|\bos\s*\.\s*_exit\b|\bTestCase\b\s*\.`)
