package checkdef_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/proof/checkdef"
)

// in returns the files of an archive.
func in(archive string) checkdef.Files {
	return func(name string) []byte {
		for _, file := range txtar.Parse([]byte(archive)).Files {
			if file.Name == name {
				return file.Data
			}
		}
		return nil
	}
}

// Commands are followed through scripts, Makefiles and package.json.
func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		commands checkdef.Commands
		archive  string
		files    string
		scripts  string
	}{
		"a script": {
			checkdef.Commands{Checks: []string{"sh check.sh"}},
			"-- check.sh --\n#!/bin/sh\n./scripts/lint.sh && ./bin/shop\n-- scripts/lint.sh --\ngo vet\n-- bin/shop --\n#!/bin/sh\n",
			"check.sh scripts/lint.sh", "",
		},
		"scripts of the product are not followed": {
			checkdef.Commands{Checks: []string{"./check.sh"}}, "-- check.sh --\n#!/bin/sh\npython app.py\n-- app.py --\nprint(1)\n", "check.sh", "",
		},
		"a target of a Makefile, with what it needs": {
			checkdef.Commands{Checks: []string{"make test"}},
			"-- Makefile --\nall: build\n\t./build.sh\ntest: lint\n\tbash run-tests.sh\nlint:\n\t@python lint.py\n-- build.sh --\n-- run-tests.sh --\n-- lint.py --\n", "Makefile lint.py run-tests.sh test", "",
		},
		"the first target": {checkdef.Commands{Checks: []string{"make"}}, "-- Makefile --\n.PHONY: check\ncheck:\n\t$(MAKE) deep\ndeep:\n\tsh deep.sh\n-- deep.sh --\n", "Makefile check deep deep.sh", ""},
		"scripts of package.json, with those around": {
			checkdef.Commands{Checks: []string{"npm test"}, Setup: []string{"npm ci"}},
			"-- package.json --\n{\"scripts\": {\"pretest\": \"node lint.mjs\", \"test\": \"npm run unit\", \"unit\": \"node --test\", \"start\": \"node start.js\"}}\n-- lint.mjs --\n-- start.js --\n",
			"lint.mjs", "pretest test posttest preunit unit postunit preci ci postci",
		},
		"in a folder": {checkdef.Commands{Within: "web", Checks: []string{"bash check.sh"}}, "-- check.sh --\n-- web/check.sh --\n", "web/check.sh", ""},
		"in folders one after the other": {
			checkdef.Commands{Checks: []string{"make -C a t && make -C b t && cd a && pushd deep && cd er && sh check.sh"}},
			"-- a/Makefile --\nt:\n\ttrue\n-- b/Makefile --\nt:\n\ttrue\n-- a/deep/er/check.sh --\n", "a/Makefile a/a a/b a/deep/er/check.sh a/t b/Makefile b/b b/t", "",
		},
		"behind variables and prefixes": {
			checkdef.Commands{Checks: []string{"CI=1 env A=b time bash check.sh | tee out; if true; then sh 'more check.sh'; fi"}}, "-- check.sh --\n", "check.sh", "",
		},
		"not outside": {checkdef.Commands{Checks: []string{"sh ../check.sh /etc/check.sh"}}, "-- ../check.sh --\n-- /etc/check.sh --\n", "", ""},
		"a circle":    {checkdef.Commands{Checks: []string{"sh check.sh"}}, "-- check.sh --\nsh test.sh\n-- test.sh --\nsh check.sh\n", "check.sh test.sh", ""},
	} {
		defined := checkdef.Of(c.commands, in(c.archive))
		if got := strings.Join(defined.Files(), " "); got != c.files {
			t.Errorf("%s: files %q, want %q", name, got, c.files)
		}
		for script := range strings.FieldsSeq(c.scripts) {
			if !defined.Scripts[script] && !strings.HasPrefix(script, "post") {
				t.Errorf("%s: the script %s is not followed", name, script)
			}
		}
	}
}

// Settings of runners define checks, and so do files that commands run. Tests and manifests do not.
func TestHas(t *testing.T) {
	defined := checkdef.Of(checkdef.Commands{Checks: []string{"sh check.sh; sh tests/run.sh"}}, in("-- check.sh --\n-- tests/run.sh --\n"))
	for want, names := range map[bool]string{
		true:  "check.sh Makefile web/vitest.config.ts .golangci.yml pytest.ini tox.ini .eslintrc.json tsconfig.build.json .cargo/config.toml gradlew .mvn/maven.config rust-toolchain lib/rules.mk justfile .npmrc",
		false: "other.sh tests/run.sh cart_test.go package.json go.mod pyproject.toml Cargo.toml pom.xml setup.cfg src/config.ts vite.ts README.md",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := defined.Has(name); got != want {
				t.Errorf("Has(%s) = %v", name, got)
			}
		}
	}
}

// Dependencies, versions and what describes a package to its users may differ. Other parts may change what the checks do.
func TestDiffers(t *testing.T) {
	scripts := map[string]bool{"test": true}
	for name, c := range map[string]struct {
		file, was, is string
		want          []string
	}{
		"package.json: dependencies":                {"package.json", `{"dependencies": {"a": "1"}}`, `{"name": "x", "version": "2", "dependencies": {"a": "2"}, "devDependencies": {"b": "1"}, "exports": "./a.js", "type": "module"}`, nil},
		"package.json: a script that a check names": {"package.json", `{"scripts": {"test": "jest"}}`, `{"scripts": {"test": "true"}}`, []string{"scripts.test"}},
		"package.json: another script":              {"web/package.json", `{"scripts": {"test": "jest"}}`, `{"scripts": {"test": "jest", "start": "node ."}}`, nil},
		"package.json: what runs by itself":         {"package.json", `{}`, `{"scripts": {"prepare": "node patch.js"}}`, []string{"scripts.prepare"}},
		"package.json: settings of a tool":          {"package.json", `{"jest": {}}`, `{"jest": {"testMatch": []}, "c8": {}}`, []string{"c8", "jest"}},
		"package.json: a new one":                   {"package.json", "", `{"jest": {}}`, nil},
		"package.json: no JSON":                     {"package.json", `{}`, `{`, []string{"it cannot be read"}},
		"go.mod: requirements":                      {"go.mod", "module m\n\ngo 1.24\n", "module m\n\ngo 1.25\n\ntoolchain go1.25.1\n\nrequire example.com/a v1.0.0 // indirect\n", nil},
		"go.mod: replace":                           {"go.mod", "module m\n", "module m\n\nreplace example.com/a => ./a\n", []string{"replace"}},
		"go.mod: exclude and godebug":               {"go.mod", "module m\n", "module m\n\ngodebug default=go1.21\n\nexclude example.com/a v1.0.0\n", []string{"exclude", "godebug"}},
		"go.mod: a line elsewhere":                  {"go.mod", "module m\n\nreplace example.com/a => ./a\n", "module m\n\nrequire example.com/b v1.0.0\n\nreplace example.com/a => ./a\n", nil},
		"pyproject.toml: dependencies": {
			"pyproject.toml", "[project]\nname = \"a\"\n[tool.pytest.ini_options]\naddopts = \"-q\"\n",
			"[project]\nname = \"a\"\nrequires-python = \">=3.9\"\ndependencies = [\"b>=1\"]\n[project.scripts]\na = \"a:main\"\n[dependency-groups]\ndev = [\"c\"]\n[tool.pytest.ini_options]\naddopts = \"-q\"\n", nil,
		},
		"pyproject.toml: pytest":       {"pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n", "[tool.pytest.ini_options]\naddopts = \"-k none\"\n", []string{"tool.pytest.ini_options.addopts"}},
		"pyproject.toml: entry points": {"pyproject.toml", "[project]\nname = \"a\"\n", "[project]\nname = \"a\"\n[project.entry-points.pytest11]\nx = \"x\"\n", []string{"project.entry-points.pytest11.x"}},
		"Cargo.toml: dependencies": {
			"Cargo.toml", "[package]\nname = \"a\"\nversion = \"1.0.0\"\n", "[package]\nname = \"a\"\nversion = \"1.1.0\"\nedition = \"2021\"\n[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n[features]\nx = []\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n", nil,
		},
		"Cargo.toml: tests and profiles": {"Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n[profile.test]\nopt-level = 3\n[[test]]\nname = \"x\"\nharness = false\n", []string{"profile.test.opt-level", "test"}},
		"Cargo.toml: patch":              {"Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n[patch.crates-io]\nb = { path = \"b\" }\n", []string{"patch.crates-io.b.path"}},
		"TOML that nests":                {"Cargo.toml", "a = 1\n", "a = " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "\n", []string{"it cannot be read"}},
		"pom.xml: a dependency": {
			"pom.xml", "<project>\n  <version>1</version>\n</project>\n",
			"<project>\n  <version>2</version>\n  <dependencies>\n    <dependency>\n      <groupId>a</groupId>\n      <artifactId>b</artifactId>\n      <version>1</version>\n    </dependency>\n  </dependencies>\n</project>\n", nil,
		},
		"pom.xml: what runs the tests": {
			"pom.xml", "<project>\n</project>\n", "<project>\n  <artifactId>maven-surefire-plugin</artifactId>\n</project>\n", []string{"<artifactId>maven-surefire-plugin</artifactId>"},
		},
		"pom.xml: a setting":        {"pom.xml", "<project>\n</project>\n", "<project>\n  <skipTests>true</skipTests>\n</project>\n", []string{"<skipTests>true</skipTests>"}},
		"build.gradle: dependency":  {"build.gradle.kts", "plugins {\n}\n", "plugins {\n}\n    implementation(\"a:b:1\")\n", nil},
		"build.gradle: a test task": {"build.gradle", "plugins {\n}\n", "plugins {\n}\ntest.enabled = false\n", []string{"test.enabled = false"}},
		"a lock file":               {"package-lock.json", `{}`, `{"lockfileVersion": 3}`, nil},
		"requirements":              {"requirements.txt", "a==1\n", "a==2\n", nil},
	} {
		var was []byte
		if c.was != "" {
			was = []byte(c.was)
		}
		if diff := cmp.Diff(c.want, checkdef.Differs(c.file, was, []byte(c.is), scripts)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestScript(t *testing.T) {
	manifest := []byte(`{"scripts": {"test": "jest"}}`)
	for name, want := range map[string]string{"test": "jest", "lint": ""} {
		if got := checkdef.Script(manifest, name); got != want {
			t.Errorf("Script(%s) = %q, want %q", name, got, want)
		}
	}
	if got := checkdef.Script([]byte("{"), "test"); got != "" {
		t.Errorf("of no JSON: %q", got)
	}
}

// Any file can be followed and compared.
func FuzzDiffers(f *testing.F) {
	for _, name := range []string{"package.json", "go.mod", "Cargo.toml", "pom.xml"} {
		f.Add(name, []byte("{}"), []byte("a"))
	}
	f.Fuzz(func(t *testing.T, name string, was, is []byte) {
		if parts := checkdef.Differs(name, is, is, nil); len(parts) > 0 && parts[0] != "it cannot be read" {
			t.Errorf("%s differs from itself in %q", name, parts)
		}
		checkdef.Differs(name, was, is, nil)
		checkdef.Of(checkdef.Commands{Checks: []string{string(was)}}, func(string) []byte { return is })
	})
}
