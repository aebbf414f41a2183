package checkdef

import (
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Some files hide what a tool would find elsewhere: the runner itself, or its
// settings. The base's own belong to the product. A new one defines the checks.

// shadowingModules hide, in the folder in which python starts, runners and modules with assertions.
var shadowingModules = strings.Fields(`unittest pytest _pytest pluggy coverage sitecustomize usercustomize
argparse contextlib difflib fnmatch functools inspect logging pprint signal traceback
doctest filecmp json re math decimal fractions operator csv hashlib datetime subprocess tempfile shutil collections copy`)

// shadowing are the files that a tool finds in the folder in which it starts, or above.
type shadowing struct {
	inFolder        []string // in the folder
	inFolderOrAbove []string // in the folder and in all above it
	always          []string // whole files, new or not
}

var (
	pythonShadows = shadowing{inFolder: pythonModules()}
	shadows       = map[string]shadowing{
		"python": pythonShadows, "pytest": pythonShadows, "py.test": pythonShadows, "tox": pythonShadows, "nox": pythonShadows, "coverage": pythonShadows, "nose2": pythonShadows,
		"jest": nodeBinary("jest"), "vitest": nodeBinary("vitest"), "mocha": nodeBinary("mocha"), "ava": nodeBinary("ava"), "eslint": nodeBinary("eslint"), "tsc": nodeBinary("tsc"),
		"go":    {inFolderOrAbove: []string{"go.work"}},
		"cargo": {inFolderOrAbove: []string{".cargo/config"}, inFolder: []string{"rust-toolchain", "rust-toolchain.toml"}},
		"mvn":   mavenShadows, "mvnw": mavenShadows, "gradlew": {always: []string{"gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"}},
		"bazel": {always: []string{".bazelrc", ".bazelversion", "tools/bazel"}}, "bazelisk": {always: []string{".bazelrc", ".bazelversion", "tools/bazel"}},
	}
	mavenShadows = shadowing{always: []string{".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml", ".mvn/wrapper/maven-wrapper.properties", ".mvn/wrapper/maven-wrapper.jar"}}
)

// nodeBinary matches a runner of node among the project's files.
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

// addShadowing adds new files that hide a tool or its settings.
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

// addIfNew adds a file if the base does not have it.
func (f *follower) addIfNew(name string) {
	if _, held := f.defining[name]; !held {
		f.defining[name] = definition{whole: true, onlyNew: true}
	}
}
