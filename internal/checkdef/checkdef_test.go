package checkdef_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/checkdef"
)

// tree is a project's files by name.
type tree map[string]string

func (t tree) file(name string) []byte {
	if text, there := t[name]; there {
		return []byte(text)
	}
	return nil
}

// with returns a tree with some files otherwise; "gone" is one that is not there.
func (t tree) with(changes tree) tree {
	all := maps.Clone(t)
	for name, text := range changes {
		if all[name] = text; text == "gone" {
			delete(all, name)
		}
	}
	return all
}

// changed returns the changes of a tree by another; sure ones are of what the checks surely run.
func changed(commands checkdef.CommandSet, base, now tree) map[string]checkdef.Change {
	if commands.Touched == nil {
		commands.Touched = slices.Collect(maps.Keys(base.with(now)))
	}
	commands.Files = slices.Sorted(maps.Keys(base))
	return checkdef.Changed(commands, base.file, now.file)
}

func sure(commands checkdef.CommandSet, base, now tree) (names []string) {
	changes := changed(commands, base, now)
	maps.DeleteFunc(changes, func(_ string, change checkdef.Change) bool { return !change.Sure })
	return slices.Sorted(maps.Keys(changes))
}

func checks(commands ...string) checkdef.CommandSet { return checkdef.CommandSet{Checks: commands} }

// without leaves out what would only come before python's own modules.
func without(paths []string) []string {
	return slices.DeleteFunc(paths, func(name string) bool {
		module := strings.TrimSuffix(strings.TrimSuffix(name, "/__init__.py"), ".py")
		return module != name && !strings.Contains(module, "/")
	})
}

// A script that makes a folder ready is one under any name, and all that
// it runs; a program that does is the work's.
func TestPathsOfSetup(t *testing.T) {
	project := tree{"setup.sh": "npm ci\n./tools/fetch\npython3 setup.py develop\n", "tools/fetch": "#!/bin/sh\n", "setup.py": "", "requirements.txt": ""}
	got := checkdef.Paths(checkdef.CommandSet{Setup: []string{"sh setup.sh", "pip install -r requirements.txt"}}, project.file)
	if diff := cmp.Diff([]string{".npmrc", "setup.sh", "tools/fetch"}, without(got)); diff != "" {
		t.Errorf("Paths (-want +got):\n%s", diff)
	}
	if got := checkdef.Paths(checks("sh setup.sh"), project.file); len(got) > 0 {
		t.Errorf("Paths of a check that nothing says is one = %q", got)
	}
}

// What a command is led by is followed from file to file. What it checks is none
// of it, nor are tests.
func TestPaths(t *testing.T) {
	project := tree{
		"check.sh":         "#!/bin/sh\nset -e\nfor t in tests/*.sh; do sh \"$t\"; done\n. ./scripts/lint.sh\nsh price.sh 1\n",
		"scripts/lint.sh":  "ruff check . && golangci-lint run",
		"price.sh":         "echo 3",
		"tests/one.sh":     "true",
		"test_prices.py":   "",
		"tools/verify.py":  "import sys",
		"Makefile":         "all: build\n\tcc main.c\ntest: unit lint\n\t@sh check.sh\nunit:\n\tpython3 -m pytest -q\nlint:\n\tnpm run lint\nbuild:\n\tsh scripts/build-check.sh\n",
		"scripts/build.sh": "true",
		"package.json":     `{"scripts": {"test": "jest --ci", "lint": "eslint .", "posttest": "node tools/check.js"}}`,
		"tools/check.js":   "",
		"sub/package.json": `{"scripts": {"test": "mocha"}}`,
		"justfile":         "test *args:\n    cargo test\n    sh ci/run-tests\n",
		"ci/run-tests":     "#!/usr/bin/env bash\ntox -e py\n",
	}
	for command, want := range map[string]string{
		"sh check.sh":                     ".golangci.json .golangci.toml .golangci.yaml .golangci.yml .ruff.toml check.sh pyproject.toml ruff.toml scripts/lint.sh",
		"./check.sh":                      ".golangci.json .golangci.toml .golangci.yaml .golangci.yml .ruff.toml check.sh pyproject.toml ruff.toml scripts/lint.sh",
		"sh price.sh 10":                  "",
		"sh tests/one.sh":                 "",
		"go test ./...":                   "go.mod go.work",
		"sh ../check.sh; /bin/sh /check":  "",
		"make -s lint":                    ".eslintignore .eslintrc .eslintrc.cjs .eslintrc.js .eslintrc.json .eslintrc.yaml .eslintrc.yml .npmrc GNUmakefile Makefile eslint.config.cjs eslint.config.js eslint.config.mjs eslint.config.ts eslint.js makefile node_modules/.bin/eslint package.json",
		"make":                            "GNUmakefile Makefile makefile",
		"npm test":                        ".npmrc jest.config.cjs jest.config.cts jest.config.js jest.config.json jest.config.mjs jest.config.ts jest.js node_modules/.bin/jest package.json tools/check.js",
		"npm ci":                          ".npmrc",
		"cargo test":                      ".cargo/config .cargo/config.toml Cargo.toml rust-toolchain rust-toolchain.toml",
		"pip install -r requirements.txt": "",
		"":                                "",
	} {
		if got := strings.Join(checkdef.Paths(checks(command), project.file), " "); got != want {
			t.Errorf("Paths(%q) = %s\nwant %s", command, got, want)
		}
	}
	for command, want := range map[string]string{
		"python3 test_prices.py":       "",
		"python3 -c 'import check'":    "",
		"CI=1 python3 tools/verify.py": "tools/verify.py",
		"python3.12 -m unittest -v":    "",
		"just test":                    ".cargo/config .cargo/config.toml Cargo.toml ci/run-tests justfile pyproject.toml rust-toolchain rust-toolchain.toml tox.ini",
	} {
		paths := checkdef.Paths(checks(command), project.file)
		if !slices.Contains(paths, "unittest.py") || !slices.Contains(paths, "sitecustomize/__init__.py") {
			t.Errorf("Paths(%q) = %s, without what shadows unittest", command, paths)
		}
		if got := strings.Join(without(paths), " "); got != want {
			t.Errorf("Paths(%q) = %s\nwant %s", command, got, want)
		}
	}
	if got := strings.Join(checkdef.Paths(checkdef.CommandSet{Within: "sub", Checks: []string{"npm test"}}, project.file), " "); !strings.HasPrefix(got, "sub/.mocharc") || !strings.HasSuffix(got, " sub/package.json") {
		t.Errorf("Paths in a folder = %s", got)
	}
	if got := strings.Join(checkdef.Paths(checks("make test"), project.file), " "); !strings.Contains(got, "pytest.ini") || !strings.Contains(got, "check.sh") || strings.Contains(got, "build") {
		t.Errorf("Paths(make test) = %s", got)
	}
}

// A change is told of as far as it is one of what the checks do, and put back no
// further.
func TestChanged(t *testing.T) {
	project := tree{
		"check.sh":       "for test in tests/*.sh; do sh $test || exit 1; done\n",
		"Makefile":       "CC = cc\nTESTS = one two\nOBJS = a.o \\\n\tb.o\n\n.PHONY: test\n\nall: $(OBJS)\n\ntest: lint\n\tfor t in $(TESTS); do sh $$t; done\n\nlint:\n\tsh check.sh\n\nrun:\n\t./a\n",
		"package.json":   `{"name": "shop", "dependencies": {"a": "1"}, "scripts": {"test": "jest", "start": "node ."}, "jest": {"bail": 1}}`,
		"pyproject.toml": "[project]\ndependencies = [\"a\"]\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n\n[tool.ruff]\nline-length = 100\n",
		"product.py":     "",
	}
	makefile, pack := project["Makefile"], project["package.json"]
	for name, test := range map[string]struct {
		command string
		changes tree
		want    tree // "whole": as the base has it
	}{
		"nothing":               {"sh check.sh", nil, tree{}},
		"the script":            {"sh check.sh", tree{"check.sh": "exit 0\n"}, tree{"check.sh": "whole"}},
		"it is gone":            {"sh check.sh", tree{"check.sh": "gone"}, tree{"check.sh": "whole"}},
		"another file":          {"sh check.sh", tree{"product.py": "1", "Makefile": "test:\n"}, tree{}},
		"a recipe":              {"make test", tree{"Makefile": strings.Replace(makefile, "sh $$t", "true", 1)}, tree{"Makefile": "whole"}},
		"one that is needed":    {"make test", tree{"Makefile": strings.Replace(makefile, "\tsh check.sh", "\ttrue", 1) + "new:\n\ttrue\n"}, tree{"Makefile": makefile + "new:\n\ttrue\n"}},
		"it is needed no more":  {"make test", tree{"Makefile": strings.Replace(makefile, "test: lint", "test:", 1)}, tree{"Makefile": "whole"}},
		"more is needed":        {"make test", tree{"Makefile": strings.Replace(makefile, "test: lint", "test: lint run", 1)}, tree{}},
		"another recipe":        {"make test", tree{"Makefile": strings.Replace(makefile, "./a", "./b", 1) + "new: run\n\ttrue\n"}, tree{}},
		"more objects":          {"make test", tree{"Makefile": strings.Replace(makefile, "b.o", "b.o c.o", 1)}, tree{}},
		"more tests":            {"make test", tree{"Makefile": strings.Replace(makefile, "one two", "one two three", 1)}, tree{}},
		"fewer tests":           {"make test", tree{"Makefile": strings.Replace(makefile, "one two", "one", 1)}, tree{"Makefile": "whole"}},
		"more are phony":        {"make test", tree{"Makefile": strings.Replace(makefile, ".PHONY: test", ".PHONY: test run", 1)}, tree{}},
		"a second rule":         {"make test", tree{"Makefile": makefile + "test:\n\ttrue\n"}, tree{"Makefile": "whole"}},
		"the target is gone":    {"make test", tree{"Makefile": "run:\n\t./a\n"}, tree{"Makefile": "whole"}},
		"another file is made":  {"make test", tree{"GNUmakefile": "test:\n"}, tree{"GNUmakefile": "whole"}},
		"a script of npm":       {"npm test", tree{"package.json": strings.Replace(pack, `"jest", "start"`, `"true", "start"`, 1)}, tree{"package.json": "whole"}},
		"one before it":         {"npm test", tree{"package.json": strings.Replace(pack, `"start": "node ."`, `"pretest": "rm -r test", "start": "node main"`, 1)}, tree{"package.json": "whole"}},
		"settings of its":       {"npm test", tree{"package.json": strings.Replace(pack, `"bail": 1`, `"testMatch": []`, 1)}, tree{"package.json": "whole"}},
		"dependencies":          {"npm test", tree{"package.json": strings.Replace(pack, `"a": "1"`, `"a": "2", "b": "1"`, 1)}, tree{}},
		"as it is written":      {"npm test", tree{"package.json": strings.ReplaceAll(pack, " ", "")}, tree{}},
		"it is gone with all":   {"npm test", tree{"package.json": "gone"}, tree{"package.json": "whole"}},
		"a target that comes":   {"make e2e", tree{"Makefile": makefile + "e2e:\n\ttrue\n"}, tree{"Makefile": "whole"}},
		"a script that comes":   {"npm run lint", tree{"package.json": strings.Replace(pack, `"start": "node ."`, `"start": "node .", "lint": "true"`, 1)}, tree{"package.json": "whole"}},
		"it cannot be read":     {"npm test", tree{"package.json": "{"}, tree{"package.json": "whole"}},
		"a runner's settings":   {"npm test", tree{"jest.config.js": ""}, tree{"jest.config.js": "whole"}},
		"a section":             {"pytest", tree{"pyproject.toml": strings.Replace(project["pyproject.toml"], "-q", "-k one", 1)}, tree{"pyproject.toml": "whole"}},
		"one that comes":        {"ruff check", tree{"pyproject.toml": project["pyproject.toml"] + "[tool.ruff.lint]\nignore = [\"ALL\"]\n"}, tree{"pyproject.toml": "whole"}},
		"another section":       {"pytest", tree{"pyproject.toml": strings.NewReplacer(`"a"`, `"b"`, "100", "120").Replace(project["pyproject.toml"])}, tree{}},
		"a plugin":              {"pytest", tree{"pyproject.toml": project["pyproject.toml"] + "[project.entry-points.pytest11]\nx = \"x\"\n"}, tree{"pyproject.toml": "[project]\n  dependencies = [\"a\"]\n  [project.entry-points]\n\n[tool]\n  [tool.pytest]\n    [tool.pytest.ini_options]\n      addopts = \"-q\"\n  [tool.ruff]\n    line-length = 100\n"}},
		"a dotted key":          {"pytest", tree{"pyproject.toml": project["pyproject.toml"] + "[tool]\npytest.x.addopts = \"-k one\"\n"}, tree{"pyproject.toml": "whole"}},
		"a file with a section": {"pytest", tree{"setup.cfg": "[metadata]\nname = shop\n[tool:pytest]\naddopts = -k one\n"}, tree{"setup.cfg": "[metadata]\nname = shop\n"}},
		"where npm looks":       {"npm test", tree{".npmrc": "registry=https://example.com\n"}, tree{}},
		"a runner of its name":  {"python3 -m unittest", tree{"unittest.py": "", "sitecustomize.py": "", "product.py": "1"}, tree{"unittest.py": "whole", "sitecustomize.py": "whole"}},
		"a package of its name": {"pytest -q", tree{"pytest/__init__.py": "", "shop/logging.py": ""}, tree{"pytest/__init__.py": "whole"}},
		"a binary of jest":      {"npm test", tree{"node_modules/.bin/jest": "", "jest.js": ""}, tree{"node_modules/.bin/jest": "whole", "jest.js": "whole"}},
		"a workspace of go":     {"go test ./...", tree{"go.work": "go 1.24\n"}, tree{"go.work": "whole"}},
		"one by a dotted key":   {"cargo test", tree{".cargo/config.toml": "target.'cfg(all())'.runner = ['sh', 'run.sh']\n"}, tree{".cargo/config.toml": "whole"}},
		"a runner of cargo":     {"cargo test", tree{".cargo/config.toml": "[net]\nretry = 2\n[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n"}, tree{".cargo/config.toml": "[net]\n  retry = 2\n"}},
		"settings of maven":     {"mvn test", tree{".mvn/maven.config": "-DskipTests\n"}, tree{".mvn/maven.config": "whole"}},
		"settings of bazel":     {"bazel test //...", tree{".bazelrc": "test --test_filter=none\n"}, tree{".bazelrc": "whole"}},
		"make's other name":     {"make test", tree{"makefile": "test:\n"}, tree{"makefile": "whole"}},
		"a comment":             {"pytest", tree{"pyproject.toml": strings.Replace(project["pyproject.toml"], "addopts", "# quiet\naddopts", 1)}, tree{}},
	} {
		now := project.with(test.changes)
		got, all := tree{}, changed(checks(test.command), project, now)
		for _, name := range sure(checks(test.command), project, now) {
			if got[name] = string(all[name].Text); all[name].Text == nil {
				got[name] = "whole"
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A file that the base has and that only might take another's place is the work's.
func TestChangedLeavesOwnModules(t *testing.T) {
	was := tree{"inspect.py": "", "go.work": "go 1.24\n"}
	now := tree{"inspect.py": "1", "go.work": "go 1.25\n"}
	if pieces := sure(checks("python3 -m pytest", "go test ./..."), was, now); len(pieces) > 0 {
		t.Errorf("Changed = %v", pieces)
	}
}

// A package.json is as the base has it, but for what the product needs, as it is written.
func TestChangedKeepsDependencies(t *testing.T) {
	was := tree{"package.json": `{"dependencies": {"a": "1"}, "scripts": {"test": "jest", "start": "node ."}, "jest": {"bail": 1}}`}
	now := tree{"package.json": `{"dependencies": {"a": "2"}, "exports": {"node": "./a.js", "default": "./b.js"}, "scripts": {"test": "true", "start": "node main"}}`}
	want := map[string]checkdef.Change{"package.json": {
		Sure: true,
		Text: []byte(`{"dependencies":{"a":"2"},"exports":{"node":"./a.js","default":"./b.js"},"jest":{"bail":1},"scripts":{"start":"node .","test":"jest"}}`),
	}}
	if diff := cmp.Diff(want, changed(checks("npm test"), was, now)); diff != "" {
		t.Errorf("Changed (-want +got):\n%s", diff)
	}
}

// No matter what the files say, there is an end to it, and a base that is as it
// was is put back nowhere.
func FuzzChanged(f *testing.F) {
	f.Add("make test", "Makefile", "test: test check\n\tmake $@; sh check.sh\n", "test:\n")
	f.Add("npm test", "package.json", `{"scripts":{"test":"npm test"}}`, `{"scripts":null}`)
	f.Add("pytest", "tox.ini", "[pytest]\n", "[pytest\n")
	f.Add("sh check.sh", "check.sh", "sh check.sh; . ./check.sh `", "")
	f.Fuzz(func(t *testing.T, command, name, was, now string) {
		before, after := tree{name: was}, tree{name: now}
		for at, change := range changed(checks(command), before, after) {
			if at != name {
				t.Errorf("%s was put back, and only %s has changed", at, name)
			}
			if again := sure(checks(command), before, tree{name: string(change.Text)}); change.Sure && change.Text != nil && len(again) > 0 {
				t.Errorf("what was put back is still otherwise: %q", change.Text)
			}
		}
		if same := changed(checks(command), before, before); len(same) > 0 {
			t.Errorf("what is as it was is put back: %v", same)
		}
	})
}

// A program that a check runs may stand behind others. An argument runs nothing.
func TestPathsBehindOtherPrograms(t *testing.T) {
	project := tree{
		"Makefile": "test:\n\ttrue\n", "package.json": `{"scripts": {"test": "true"}}`, "src/check.py": "", "ci/check": "#!/bin/sh\n",
		"tools/check.py": "", "tools/lint/__main__.py": "", "tools/lint/__init__.py": "", "app/server.py": "",
	}
	for command, want := range map[string][]string{
		"timeout 60 npm test":                 {"package.json"},
		`bash -lc "npm test"`:                 {"package.json"},
		"sh -c 'npm test'":                    {"package.json"},
		"npx --no-install npm test":           {"package.json"},
		"timeout -k 5 60 make test":           {"Makefile"},
		"timeout 60 ci/check":                 {"ci/check"},
		"python3 -m tools.check":              {"tools/check.py"},
		"timeout 60 python3.12 -m tools.lint": {"tools/lint/__init__.py", "tools/lint/__main__.py"},
		"python3 -m app.server":               nil,
		"cat . src/check.py":                  nil,
		"echo make test, or npm test":         nil,
		"command -v make":                     nil,
	} {
		got := slices.DeleteFunc(checkdef.Paths(checks(command), project.file), func(name string) bool { return project.file(name) == nil })
		if !slices.Equal(got, want) {
			t.Errorf("Paths of %s = %q, want %q", command, got, want)
		}
	}
}
