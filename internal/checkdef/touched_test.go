package checkdef_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/checkdef"
)

// What has no name before it comes is found among the files of a change: what a
// pattern stands for, what make takes for made, a program that is found first.
func TestChangedByWhatComes(t *testing.T) {
	stamped := tree{"Makefile": "test: $(patsubst %,%.ok,$(wildcard tests/*.sh))\n%.sh.ok: %.sh\n\tsh $<\n\ttouch $@\n"}
	beside := tree{"Makefile": "test: $(patsubst tests/%.sh,done/%,$(wildcard tests/*.sh))\ndone/%: tests/%.sh\n\tsh $< && touch $@\ngen/%: %.in\n\tcp $< $@\n"}
	parts := tree{"Makefile": "TESTS = $(wildcard tests/*.sh)\ntest:\n\tsh run.sh $(TESTS)\n-include $(wildcard mk/*.mk)\n", "mk/vars.mk": "NAME = shop\n"}
	phony := tree{"Makefile": ".PHONY: test\ntest:\n\tsh check.sh\n"}
	script := tree{"check.sh": "for part in lib/*.sh; do . \"./$part\"; done\nfor t in tests/*.sh; do . \"$t\"; done\n", "lib/run.sh": "assert_same() { [ \"$1\" = \"$2\" ]; }\n"}
	first := tree{"check.sh": "PATH=$PWD/bin:$PATH\nsh tests/one.sh\n", "bin/hello": ""}
	tools := tree{
		"tools/check.py": "import sys\n\nfrom rules import run\n", "tools/rules.py": "", "check.py": "from prices import price\n", "prices.py": "",
		"scripts/test.js": "const { run } = require('./lib/run');\n", "scripts/lib/run.js": "require('../../price.js');\n", "price.js": "",
	}
	for name, c := range map[string]struct {
		command       string
		base, changes tree
		want          []string
	}{
		"a file that is called as the target":  {"make test", tree{"Makefile": "test:\n\tsh check.sh\n"}, tree{"test": "x\n"}, []string{"test"}},
		"a target that is no file":             {"make test", phony, tree{"test": "x\n"}, nil},
		"of just, too":                         {"just test", tree{"justfile": "test:\n\tsh check.sh\n"}, tree{"test": "x\n"}, nil},
		"what says that a test was run":        {"make", stamped, tree{"tests/nine.sh.ok": "x\n", "tests/ten.sh": "x\n"}, []string{"tests/nine.sh.ok"}},
		"in a folder of its own":               {"make", beside, tree{"done/nine": "x\n", "gen/nine": "x\n"}, []string{"done/nine"}},
		"a part that says nothing of it":       {"make test", parts, tree{"mk/release.mk": "release:\n\ttar c .\n"}, nil},
		"what a script reads in":               {"sh check.sh", script, tree{"lib/zz.sh": "sh() { :; }\n", "lib/zz.txt": "", "tests/ten.sh": "x\n"}, []string{"lib/zz.sh"}},
		"how it compares":                      {"sh check.sh", script, tree{"lib/run.sh": "assert_same() { :; }\n"}, []string{"lib/run.sh"}},
		"more of a variable":                   {"make test", parts, tree{"Makefile": parts["Makefile"] + "TESTS += more/ten.sh\n"}, nil},
		"what a tool imports":                  {"python3 tools/check.py", tools, tree{"tools/rules.py": "x\n"}, []string{"tools/rules.py"}},
		"what it checks":                       {"python3 check.py", tools, tree{"prices.py": "x\n"}, nil},
		"what a runner requires":               {"node scripts/test.js", tools, tree{"scripts/lib/run.js": "x\n", "price.js": "x\n"}, []string{"scripts/lib/run.js"}},
		"a program that checks":                {"go run ./cmd/check", tree{}, tree{"cmd/check/main.go": "x\n", "cmd/check/main_test.go": "x\n", "cmd/shop/main.go": "x\n"}, []string{"cmd/check/main.go"}},
		"a script in a folder that is gone to": {"cd app && ./check.sh", tree{"app/check.sh": "sh t.sh\n", "check.sh": ""}, tree{"app/check.sh": "exit 0\n"}, []string{"app/check.sh"}},
		"a package's, by a flag":               {"npm --prefix app test", tree{"app/package.json": `{"scripts": {"test": "jest"}}`}, tree{"app/package.json": `{"scripts": {"test": "true"}}`}, []string{"app/package.json"}},
		"a workspace's":                        {"npm test -ws", tree{"package.json": "{}", "a/b/package.json": `{"scripts": {"test": "sh check.sh"}}`, "a/b/check.sh": ""}, tree{"a/b/check.sh": "x\n"}, []string{"a/b/check.sh"}},
		"a program that is found first":        {"sh check.sh", first, tree{"bin/cmp": "x\n", "bin/shop": "x\n"}, []string{"bin/cmp"}},
	} {
		now := c.base.with(c.changes)
		commands := checks(c.command)
		commands.Touched = slices.Sorted(maps.Keys(c.changes))
		if diff := cmp.Diff(c.want, sure(commands, c.base, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// However many folders a change touches, what a check runs in its own folder is followed to its end,
// and what it may run in another one is put back.
func TestManyFoldersHideNothing(t *testing.T) {
	base := tree{"package.json": `{"scripts": {"test": "sh check.sh"}}`, "check.sh": "sh scripts/lint.sh\n", "scripts/lint.sh": "true\n"}
	changes := tree{"scripts/lint.sh": "exit 0\n"}
	for n := range 300 {
		name := fmt.Sprintf("p%03d/package.json", n)
		base[name], changes[name] = `{"scripts": {"test": "sh a; sh b"}}`, `{"scripts": {"test": "true"}}`
	}
	commands := checks("npm test && cd p299 && npm test")
	commands.Touched = slices.Sorted(maps.Keys(changes))
	got := sure(commands, base, base.with(changes))
	for _, want := range []string{"scripts/lint.sh", "p000/package.json", "p299/package.json"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not put back", want)
		}
	}
}

// Nor does it hide what the tests of one of many packages run, and a dependency is no change of them.
func TestManyPackagesHideNoScript(t *testing.T) {
	const script = "packages/850/check850.sh"
	base := tree{"package.json": `{"workspaces": ["packages/*"], "scripts": {"test": "npm test --workspaces"}}`}
	for n := range 900 {
		base[fmt.Sprintf("packages/%d/package.json", n)] = fmt.Sprintf(`{"scripts": {"test": "sh check%d.sh"}}`, n)
		base[fmt.Sprintf("packages/%d/check%[1]d.sh", n)] = "node --test\n"
	}
	for name, more := range map[string]struct{ file, text string }{
		"a dependency in each":     {"packages/%d/package.json", `{"scripts": {"test": "sh check%d.sh"}, "dependencies": {"left-pad": "1"}}`},
		"a text in each":           {"packages/%d/README.md", "%d\n"},
		"a text in as many others": {"%d/README.md", "%d\n"},
	} {
		for _, most := range []int{80, 900} {
			changes := tree{script: "exit 0\n"}
			for n := range most {
				changes[fmt.Sprintf(more.file, n)] = fmt.Sprintf(more.text, n)
			}
			commands := checks("npm test")
			commands.Touched = slices.Sorted(maps.Keys(changes))
			if got := sure(commands, base, base.with(changes)); !slices.Equal(got, []string{script}) {
				t.Errorf("%s of %d: %d files are put back, want the script alone", name, most, len(got))
			}
		}
	}
}

// With all files of the base, a check is also followed into folders that no change touches: what a check
// changes there while it runs is not known before. If there are too many, the files that it asks for still count.
func TestUntouchedFolders(t *testing.T) {
	base := tree{"Makefile": "test:\n\tfor d in $(DIRS); do $(MAKE) -C $$d test; done\n", "a/b/Makefile": "test:\n\tsh check.sh\n", "a/b/check.sh": "true\n", "a/c/other.mk": ""}
	many := base.with(nil)
	for n := range 300 {
		many[fmt.Sprintf("p%03d/Makefile", n)] = "test:\n\ttrue\n"
	}
	for name, c := range map[string]struct {
		base tree
		file string
		want bool
	}{
		"a Makefile":            {base, "a/b/Makefile", true},
		"a script that it runs": {base, "a/b/check.sh", true},
		"another file":          {base, "a/c/other.mk", false},
		"the first of many":     {many, "p000/Makefile", true},
		"the last of many":      {many, "p299/Makefile", true},
	} {
		commands := checks("make test")
		commands.Files = slices.Sorted(maps.Keys(c.base))
		if got := slices.Contains(checkdef.Paths(commands, c.base.file), c.file); got != c.want {
			t.Errorf("%s: %s defines a check: %t, want %t", name, c.file, got, c.want)
		}
	}
}

// The base's own file may serve the product. It is tried as a setting, so it does not define the checks.
func TestOnlyNewFilesDefine(t *testing.T) {
	project := tree{"rust-toolchain.toml": "[toolchain]\n"}
	if got := checkdef.Paths(checks("cargo test"), project.file); slices.Contains(got, "rust-toolchain.toml") || !slices.Contains(got, "rust-toolchain") {
		t.Errorf("Paths = %q", got)
	}
}
