package checkdef

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Some files hide what a tool would find elsewhere: the runner itself, or its
// settings. The base's own belong to the product. A new one defines the checks.

// shadowingModules hide, in the folder in which python starts, runners and modules with assertions.
var shadowingModules = strings.Fields(`unittest pytest _pytest pluggy coverage sitecustomize usercustomize
argparse contextlib difflib fnmatch functools inspect logging pprint signal traceback
doctest filecmp json re math decimal fractions operator csv hashlib datetime subprocess tempfile shutil collections copy`)

func pythonModules() []string {
	var all []string
	for _, module := range shadowingModules {
		all = append(all, module+".py", module+"/__init__.py")
	}
	return all
}

// nodeBinary returns the files that node takes for a runner.
func nodeBinary(tool string) []string { return []string{tool + ".js", "node_modules/.bin/" + tool} }

var interpreter = pattern.Of(`^python[0-9.]*$`)

// addIfNew adds a file if the base does not have it.
func (f *follower) addIfNew(name string) {
	if _, held := f.defining[name]; !held {
		f.defining[name] = definition{whole: true, onlyNew: true}
	}
}
