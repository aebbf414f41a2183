package checkdef

import (
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// What a runner is told to load, and what a script reads in, has its say before
// any test has.

// loading are the flags by which node and its runners load a file first; the
// short one means something else elsewhere.
var (
	loading    = words("--require --import --loader --experimental-loader")
	nodeLike   = words("node mocha tsx ts-node nyc c8 ava tape")
	settling   = words("--config -c --rcfile --config-file --ini")
	scriptEnds = []string{"", ".js", ".cjs", ".mjs", ".ts", "/index.js"}
)

// preloads takes hold of the files that a call names to be loaded first, or to be
// read settings from.
func (t *trail) preloads(call []string, in errand) {
	tool := ""
	for _, word := range call {
		if tool = path.Base(word); !assignment.MatchString(word) && !wrappers[word] && !strings.HasPrefix(word, "-") {
			break
		}
	}
	for i, word := range call {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(call) {
			value = call[i+1]
		}
		t.told(tool, flag, value, in)
	}
}

// told follows one flag, or variable, of a tool.
func (t *trail) told(tool, flag, value string, in errand) {
	_, known := settingsOf[tool]
	switch {
	case loading[flag], flag == "-r" && nodeLike[tool]:
		t.loaded(value, in)
	case settling[flag] && known:
		t.settled(value, in)
	case flag == "PYTHONPATH":
		for dir := range strings.SplitSeq(value, ":") {
			if dir = atFolder(in.dir, dir); dir != "" {
				t.shaded("python", dir)
			}
		}
	}
}

// settled takes hold of settings that a tool is told of.
func (t *trail) settled(name string, in errand) {
	if name = atFolder(in.dir, name); name != "" && t.base(name) != nil {
		t.all(name)
	}
}

// loaded takes hold of a file of node's, with the ending that its name leaves out.
func (t *trail) loaded(name string, in errand) {
	if name = atFolder(in.dir, name); name == "" || name == "." || ofTests(name) {
		return
	}
	for _, end := range scriptEnds {
		if t.base(name+end) != nil {
			t.all(name + end)
			return
		}
	}
}

// comparing is a function by which a script says that something is not as it
// should be.
var comparing = pattern.Of(`(?im)^\s*(function\s+)?\w*(assert|expect|same|equal|refute|should|must|fail)\w*\s*\(\)`)

// read takes hold of what a script reads in: of what comes, of what says how
// things are compared, and of variables for it. The rest may be what is checked.
func (t *trail) read(name string, in errand) {
	text := t.base(name)
	switch {
	case text == nil:
		t.fresh(name)
	case strings.HasPrefix(path.Base(name), ".env") || comparing.MatchString(string(text)):
		t.all(name)
		t.add(errand{string(text), in.dir, in.ready})
	}
}
