package checkdef_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/checkdef"
)

// textOf returns a changed file as the base has it, but for what the product needs.
func textOf(change checkdef.Change, base string) string {
	if change.Text == nil {
		return base
	}
	return string(change.Text)
}

// What is not put back whole is tried as the base has it, no matter what its readers see.
// What the product needs stays: without it, each trial would fail.
func TestTried(t *testing.T) {
	const makefile = "OBJS = a.o \\\n\tb.o\nRUN = sh run.sh\n\n.PHONY: test\ntest: shop\n\t$(RUN)\n\nshop: $(OBJS)\n\tcc $(OBJS)\n"
	const pyproject = "[project]\nname = \"shop\"\ndependencies = [\"a\"]\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"
	const gomod = "module shop\n\ngo 1.22\n\nrequire a v1.0.0\n\nreplace a => ./a\n"
	const cargo = "[package]\nname = \"shop\"\nedition = \"2021\"\n"
	project := tree{
		"go.mod": gomod, "Cargo.toml": cargo, "Makefile": makefile, "pyproject.toml": pyproject, "run.sh": "", "justfile": "test:\n    cargo test\n",
		"package.json": `{"scripts": {"test": "jest"}, "dependencies": {"a": "1"}}`, "all/package.json": `{"scripts": {"test": "run-s lint*"}}`, "many/package.json": `{"workspaces": ["a", "b"], "scripts": {"test": "x"}}`, "api/go.mod": "module api\n\ngo 1.22\n",
		"setup.cfg": "[metadata]\nname = shop\n[tool:pytest]\naddopts = -q\n",
		"go.work":   "go 1.22\n\nuse (\n\t.\n\t./want\n)\n", ".cargo/config": "[build]\njobs = 1\n",
	}
	const none = "not tried"
	for name, c := range map[string]struct{ command, file, text, want string }{
		"a shell by a pattern":         {"make test", "Makefile", makefile + "%: SHELL = ./say.sh\n", makefile},
		"by a function":                {"make test", "Makefile", makefile + "$(eval SHELL = ./say.sh)\n", makefile},
		"in what looks like a comment": {"make test", "Makefile", strings.Replace(makefile, "\t$(RUN)", "\t# $(eval SHELL = ./say.sh)\n\t$(RUN)", 1), makefile},
		"in a list":                    {"make test", "Makefile", strings.Replace(makefile, ".PHONY: test", ".PHONY: test $(eval SHELL = ./say.sh)", 1), makefile},
		"by a computed name":           {"make test", "Makefile", makefile + "S = SHELL\n$(S) = ./say.sh\n", makefile},
		"programs found first":         {"make test", "Makefile", "export PATH := tools:$(PATH)\n" + makefile, makefile},
		"a new rule":                   {"make test", "Makefile", makefile + "list: shop\n\t./shop\n", none},
		"the first rule":               {"make", "Makefile", "list:\n\t./shop\n" + makefile, makefile},
		"a rule within another":        {"make test", "Makefile", strings.Replace(makefile, "\tcc", "list:\n\tcc", 1), makefile + "list:\n\tcc $(OBJS)\n"},
		"a rule of a known name":       {"make test", "Makefile", makefile + "run:\n\ttrue\n", makefile},
		"a rule that is no recipe":     {"make test", "Makefile", makefile + "list:\n  $(eval SHELL = ./say.sh)\n", makefile},
		"more objects":                 {"make test", "Makefile", strings.Replace(makefile, "b.o", "c.o b.o", 1), none},
		"more of a runner":             {"make test", "Makefile", strings.Replace(makefile, "RUN = sh", "RUN = sh yes.sh", 1), makefile},
		"a file that was there":        {"make test", "Makefile", strings.Replace(makefile, "b.o", "b.o run.sh", 1), makefile},
		"a new rule and another shell": {"make test", "Makefile", makefile + "list:\n\t./shop\n\n%: SHELL = ./say.sh\n", makefile + "list:\n\t./shop\n\n"},
		"a rule of just":               {"just test", "justfile", "test:\n    cargo test\nlist:\n    cargo run\n", none},
		"where cargo looks":            {"cargo test", ".cargo/config.toml", "[source.crates-io]\nreplace-with = \"vendored\"\n", none},
		"a key with a comment":         {"npm test", ".npmrc", "script-shell;x=./sh.sh\nregistry=https://example.com/\n", "registry=https://example.com/\n"},
		"a key with an escape":         {"npm test", ".npmrc", `"script\u002dshell"=./sh.sh` + "\n", ""},
		"a new crate":                  {"cargo test", "Cargo.toml", cargo + "[dependencies]\na = \"1\"\n", none},
		"tests of a crate elsewhere":   {"cargo test", "Cargo.toml", cargo + "[[test]]\nname = \"a\"\npath = \"b.rs\"\n", cargo},
		"another crate":                {"cargo test", "Cargo.toml", cargo + "[workspace]\nmembers = [\"a\"]\n", none},
		"another crate alone":          {"cargo test", "Cargo.toml", cargo + "[workspace]\ndefault-members = [\"a\"]\nexclude = [\"b\"]\n", "[package]\n  edition = \"2021\"\n  name = \"shop\"\n\n[workspace]\n"},
		"a crate without its tests":    {"cargo test", "Cargo.toml", cargo + "autotests = false\n", cargo},
		"a new module and a newer Go":  {"go test ./...", "go.mod", "module shop\n\ngo 1.24\n\nrequire (\n\ta v1.1.0\n\tb v1.0.0 // indirect\n)\n\nreplace a => ./a\n", none},
		"an older Go":                  {"go test ./...", "go.mod", strings.Replace(gomod, "1.22", "1.21", 1), "module shop\nrequire a v1.0.0\nreplace a => ./a\ngo 1.22\n"},
		"another place of a module":    {"go test ./...", "go.mod", strings.Replace(gomod, "./a", "./b", 1), "module shop\nrequire a v1.0.0\nreplace a => ./a\ngo 1.22\n"},
		"another module in go.work":    {"cd api && go test ./...", "go.work", "go 1.22\n\nuse (\n\t.\n\t./lib\n)\n", "use .\nuse ./want\ngo 1.22\n"},
		"a newer Go in go.work":        {"go test ./...", "go.work", "go 1.24\n\nuse (\n\t.\n\t./want\n)\n", none},
		"cargo's old name of settings": {"cargo test", ".cargo/config", "[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n", "[build]\njobs = 1\n"},
		"plugins from a file":          {"pytest", "setup.cfg", "[metadata]\nname = shop\n[options]\nentry_points = file: x.txt\n[tool:pytest]\naddopts = -q\n", project["setup.cfg"]},
		"those of pyproject.toml":      {"pytest", "pyproject.toml", pyproject + "[tool.setuptools.dynamic]\nentry-points = {file = \"x.txt\"}\n", "[project]\n  dependencies = [\"a\"]\n  name = \"shop\"\n\n[tool]\n  [tool.pytest]\n    [tool.pytest.ini_options]\n      addopts = \"-q\"\n  [tool.setuptools]\n    [tool.setuptools.dynamic]\n"},
		"those of flit":                {"pytest", "pyproject.toml", pyproject + "[tool.flit.entrypoints.pytest11]\nx = \"x\"\n", "[project]\n  dependencies = [\"a\"]\n  name = \"shop\"\n\n[tool]\n  [tool.flit]\n  [tool.pytest]\n    [tool.pytest.ini_options]\n      addopts = \"-q\"\n"},
		"a module behind cd":           {"cd api && go test ./...", "api/go.mod", "module api\n\ngo 1.21\n", "module api\ngo 1.22\n"},
		"where npm looks":              {"npm test", ".npmrc", "@shop:registry=https://example.com/\n//example.com/:_authToken=${TOKEN}\nlegacy-peer-deps=true\n", none},
		"a new dependency of npm":      {"npm test", "package.json", `{"scripts": {"test": "jest"}, "dependencies": {"a": "1", "b": "2"}}`, none},
		"a new script":                 {"npm test", "package.json", `{"scripts": {"test": "jest", "docs": "x"}, "dependencies": {"a": "1"}}`, none},
		"one that the manager runs":    {"npm test", "package.json", `{"scripts": {"test": "jest", "prepare": "x", "docs": "y"}, "dependencies": {"a": "1"}}`, `{"dependencies":{"a":"1"},"scripts":{"docs":"y","test":"jest"}}`},
		"one of a known name":          {"npm test", "package.json", `{"scripts": {"test": "jest", "jest": "x"}, "dependencies": {"a": "1"}}`, project["package.json"]},
		"one of a manager's own kind":  {"npm test", "package.json", `{"scripts": {"test": "jest", "pnpm:devPreinstall": "x"}, "dependencies": {"a": "1"}}`, project["package.json"]},
		"one that a pattern names":     {"npm --prefix all test", "all/package.json", `{"scripts": {"test": "run-s lint*", "linted": "x"}}`, project["all/package.json"]},
		"a new workspace":              {"npm --prefix many test", "many/package.json", `{"workspaces": {"packages": ["a", "c", "b"]}, "scripts": {"test": "x"}}`, none},
		"a workspace less":             {"npm --prefix many test", "many/package.json", `{"workspaces": ["a"], "scripts": {"test": "x"}}`, project["many/package.json"]},
		"a workspace that is left out": {"npm --prefix many test", "many/package.json", `{"workspaces": ["a", "b", "!b"], "scripts": {"test": "x"}}`, project["many/package.json"]},
		"another script":               {"npm test", "package.json", `{"scripts": {"test": "jest", "jest": "x"}, "dependencies": {"b": "2"}}`, `{"dependencies":{"b":"2"},"scripts":{"test":"jest"}}`},
		"another tool":                 {"npm test", "package.json", `{"scripts": {"test": "jest"}, "dependencies": {"a": "1"}, "babel": {"presets": ["./p.js"]}}`, `{"scripts": {"test": "jest"}, "dependencies": {"a": "1"}}`},
		"a new dependency of python":   {"pytest", "pyproject.toml", strings.Replace(pyproject, `"a"`, `"a", "b"`, 1) + "[project.scripts]\nshop = \"shop:main\"\n", none},
		"another section":              {"pytest", "pyproject.toml", pyproject + "[tool.shop]\nx = 1\n", pyproject},
		"what a package requires":      {"pytest", "setup.cfg", project["setup.cfg"] + "[options]\ninstall_requires =\n  a\n", none},
		"a section behind a blank":     {"pytest", "setup.cfg", project["setup.cfg"] + " [options]\n -k one\n", "[metadata]\nname = shop\n[tool:pytest]\naddopts = -q\n"},
		"a plugin of a package":        {"pytest", "setup.cfg", project["setup.cfg"] + "[options.entry_points]\npytest11 =\n  x = x\n", "[metadata]\nname = shop\n[tool:pytest]\naddopts = -q\n"},
		"what is put back whole":       {"make test", "Makefile", strings.Replace(makefile, "\t$(RUN)", "\ttrue", 1), none},
	} {
		now := project.with(tree{c.file: c.text})
		got := none
		for name, change := range changed(checks(c.command), project, now) {
			if !change.Sure {
				got = textOf(change, project[name])
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What only a reader of all of make's language could tell from other lines is tried as well.
func TestTriedBesides(t *testing.T) {
	const makefile = "TESTS = $(wildcard tests/*.sh)\n.PHONY: test\ntest:\n\tsh run.sh $(TESTS)\n"
	project := tree{"Makefile": makefile + "-include $(wildcard mk/*.mk)\n", "mk/vars.mk": "NAME = shop\n", "other/Makefile": makefile}
	for name, c := range map[string]struct {
		within  string
		changes tree
		file    string
	}{
		"another shell":          {"other", tree{"other/Makefile": "SHELL = true\n" + makefile}, "other/Makefile"},
		"failures are ignored":   {"other", tree{"other/Makefile": makefile + ".IGNORE:\n"}, "other/Makefile"},
		"it is a file":           {"other", tree{"other/Makefile": strings.Replace(makefile, ".PHONY: test", ".PHONY: run", 1), "other/test": ""}, "other/Makefile"},
		"a variable once more":   {"other", tree{"other/Makefile": makefile + "TESTS := $(filter-out tests/nine.sh,$(TESTS))\n"}, "other/Makefile"},
		"a part of the Makefile": {"", tree{"mk/zz.mk": "TESTS = tests/one.sh\n"}, "mk/zz.mk"},
		"one that was there":     {"", tree{"mk/vars.mk": "NAME = shop\nMAKEFLAGS += -n\n"}, "mk/vars.mk"},
	} {
		now := project.with(c.changes)
		commands := checkdef.CommandSet{Within: c.within, Checks: []string{"make test"}, Touched: []string{c.file}}
		changes := changed(commands, project, now)
		if change, is := changes[c.file]; len(changes) != 1 || !is || change.Sure || textOf(change, project[c.file]) != project[c.file] {
			t.Errorf("%s: changed %v", name, changes)
		}
	}
}

// A file that would take its reader much memory or time is put back whole: 32 KiB of nested names took 5 GB.
func TestCostlyFilesArePutBackWhole(t *testing.T) {
	const pyproject = "[project]\nname = \"shop\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"
	project := tree{"pyproject.toml": pyproject, "Makefile": "test:\n\tsh run.sh\n", "run.sh": ""}
	deep := func(begins, part, ends string) string { return begins + strings.Repeat(part, 100) + ends }
	for name, c := range map[string]struct {
		file, text string
		whole      bool
	}{
		"parts of a table's name": {"pyproject.toml", pyproject + deep("[project", ".a", "]\n"), true},
		"parts of a key":          {"pyproject.toml", pyproject + deep("[project.b]\na", ` . "a,="`, " = 1\n"), true},
		"tables in tables":        {"pyproject.toml", pyproject + "[project.b]\na = " + deep("", "{a = ", "1") + deep("", "}", "\n"), true},
		"lists in lists":          {"pyproject.toml", pyproject + "[project.b]\na = " + deep("", "[\"]\", ", "1") + deep("", "]", "\n"), true},
		"not closed":              {"pyproject.toml", pyproject + deep("[project.b]\na = ", "{a =", ""), true},
		"a long table":            {"pyproject.toml", pyproject + "[project.b]\n" + strings.Repeat("# more\n", 10_000), true},
		"a long Makefile":         {"Makefile", project["Makefile"] + strings.Repeat("list:\n\ttrue\n", 30_000), true},
		"text nests nothing":      {"pyproject.toml", pyproject + deep("[project.b]\na = \"\"\"\\\"\"\"", "[{a.", "\"\"\" # ") + deep("'", "[.", "\n"), false},
		"many beside each other":  {"pyproject.toml", pyproject + deep("[project.b]\na = [", "{a.b = 1.5}, ", "]\n"), false},
	} {
		changes := changed(checks("pytest", "make test"), project, project.with(tree{c.file: c.text}))
		if change, is := changes[c.file]; is != c.whole || is && (!change.Sure || textOf(change, project[c.file]) != project[c.file]) {
			t.Errorf("%s: changed %t, %.80q", name, is, change.Text)
		}
	}
}
