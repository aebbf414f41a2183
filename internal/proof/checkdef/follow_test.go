package checkdef_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/proof/checkdef"
)

// What a check runs is found in other folders, by `source`, and beside a script.
func TestOfFollowsScripts(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		files   map[string]string
		has     string
		hasNot  string
	}{
		"sourced":             {"sh check.sh", map[string]string{"check.sh": ". ./lib/common.sh\nsh price.sh\n", "lib/common.sh": "", "price.sh": ""}, "check.sh lib/common.sh", "price.sh"},
		"beside the script":   {"sh ci/all.sh", map[string]string{"ci/all.sh": `. "$(dirname "$0")/common.sh"`, "ci/common.sh": ""}, "ci/common.sh", ""},
		"behind cd":           {"cd app && sh check.sh", map[string]string{"app/check.sh": "", "app/price.sh": ""}, "app/check.sh", "app/price.sh"},
		"make in a folder":    {"make -C app test", map[string]string{"app/Makefile": "test: app.c\n\tsh run-tests.sh\n", "app/run-tests.sh": ""}, "app/run-tests.sh app/test", "app/app.c"},
		"a target's own name": {"make", map[string]string{"Makefile": "all: price.sh\n\ttrue\n"}, "all", "price.sh"},
		"shadows of a runner": {"python3 -m unittest", nil, "unittest.py src/sitecustomize.py", "tests/unittest.py"},
	} {
		t.Run(name, func(t *testing.T) {
			defined := checkdef.Of(checkdef.Commands{Checks: []string{c.command}}, func(name string) []byte {
				if text, found := c.files[name]; found {
					return []byte(text)
				}
				return nil
			})
			for file := range strings.FieldsSeq(c.has) {
				if !defined.Has(file) {
					t.Errorf("%s defines no check", file)
				}
			}
			for file := range strings.FieldsSeq(c.hasNot) {
				if defined.Has(file) {
					t.Errorf("%s defines a check", file)
				}
			}
		})
	}
}

// A script of a package in another folder is compared, too.
func TestScriptsOfOtherPackages(t *testing.T) {
	defined := checkdef.Of(checkdef.Commands{Checks: []string{"cd app && npm test"}}, func(string) []byte { return nil })
	parts := checkdef.Differs("app/package.json", []byte(`{"scripts": {"test": "node --test"}}`), []byte(`{"scripts": {"test": "true"}}`), defined.Scripts)
	if len(parts) != 1 || parts[0] != "scripts.test" {
		t.Errorf("%q, want the script that the check runs", parts)
	}
}

// A workspace may get modules. One that leaves a module out leaves its tests out.
func TestWorkspaces(t *testing.T) {
	two := "go 1.24\n\nuse ./a\nuse ./b\n"
	for name, c := range map[string]struct{ was, is, want string }{
		"a module more": {two, two + "use ./c\n", ""},
		"a module less": {two, "go 1.25\n\nuse ./a\n", "use ./b"},
		"a new one":     {"", two, "use"},
	} {
		t.Run(name, func(t *testing.T) {
			var was []byte
			if c.was != "" {
				was = []byte(c.was)
			}
			if got := strings.Join(checkdef.Differs("go.work", was, []byte(c.is), nil), ", "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
