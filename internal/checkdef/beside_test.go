package checkdef_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a Makefile, a script or a runner reads besides has a say in the checks as
// far as it speaks of them; what is checked may be read, too.
func TestChangedBesides(t *testing.T) {
	makefile := tree{
		"Makefile":  "-include config.mk\nTESTS ?= $(wildcard tests/*.sh)\nALL = $(TESTS)\ntest:\n\tsh run.sh $(ALL)\nbuild:\n\techo $(CFLAGS)\n",
		"common.mk": "CFLAGS = -O\nlint:\n\truff check\n",
	}
	also := makefile.with(tree{"Makefile": "include common.mk\n" + makefile["Makefile"]})
	script := tree{"check.sh": ". ./price.sh\n. ./lib/common.sh\n. ./.env\n", "price.sh": "price() { echo 3; }\n", "lib/common.sh": "assert_same() { [ \"$1\" = \"$2\" ]; }\n"}
	node := tree{"package.json": `{"scripts": {"test": "node --require ./tools/register --test"}}`, "tools/register.js": "", "src/a.js": ""}
	for name, c := range map[string]struct {
		command       string
		base, changes tree
		want          []string
	}{
		"a recipe of what comes":            {"make test", makefile, tree{"config.mk": "test:\n\ttrue\n"}, []string{"config.mk"}},
		"what another target uses":          {"make test", makefile, tree{"config.mk": "CFLAGS = -g\n"}, nil},
		"a recipe that is included":         {"make lint", also, tree{"common.mk": "CFLAGS = -O\nlint:\n\ttrue\n"}, []string{"common.mk"}},
		"another target beside it":          {"make lint", also, tree{"common.mk": "CFLAGS = -O\nlint:\n\truff check\nclean:\n\trm -r out\n"}, nil},
		"what is included goes":             {"make lint", also, tree{"common.mk": "gone"}, []string{"common.mk"}},
		"what a script comes to read":       {"sh check.sh", script, tree{".env": "sh() { :; }\n"}, []string{".env"}},
		"how a script compares":             {"sh check.sh", script, tree{"lib/common.sh": "assert_same() { :; }\n"}, []string{"lib/common.sh"}},
		"what a script checks":              {"sh check.sh", script, tree{"price.sh": "price() { echo 2; }\n"}, nil},
		"how a script beside it compares":   {"sh ci/check.sh", tree{"ci/check.sh": ". \"$(dirname \"$0\")/common.sh\"\n", "ci/common.sh": "assert_same() { false; }\n"}, tree{"ci/common.sh": "assert_same() { :; }\n"}, []string{"ci/common.sh"}},
		"what node loads first":             {"npm test", node, tree{"tools/register.js": "process.exit(0)\n"}, []string{"tools/register.js"}},
		"what tests import by a name":       {"npm test", tree{"package.json": `{"imports": {"#a": "./a.js"}}`}, tree{"package.json": `{"imports": {"#a": "./b.js"}}`}, []string{"package.json"}},
		"settings that cannot be read":      {"mypy .", tree{"pyproject.toml": "[project]\n"}, tree{"pyproject.toml": "[tool\n"}, []string{"pyproject.toml"}},
		"a package.json that comes":         {"jest", tree{}, tree{"package.json": `{"name": "shop"}`}, []string{"package.json"}},
		"a package.json that hides one":     {"jest", tree{"package.json": "{}", "shop/a.test.js": ""}, tree{"shop/package.json": `{"name": "shop"}`}, []string{"shop/package.json"}},
		"a package.json of a new folder":    {"jest", tree{"package.json": "{}", "shop/package.json": "{}", "shop/a.test.js": ""}, tree{"desk/package.json": `{"name": "desk"}`, "desk/b.test.js": ""}, nil},
		"a runner that comes":               {"jest", tree{"package.json": "{}"}, tree{"node_modules/jest/package.json": "{}"}, []string{"node_modules/jest/package.json"}},
		"what node is tested on":            {"npm test", node, tree{"src/a.js": "x\n"}, nil},
		"settings that a runner is told of": {"pytest -c ci/settings.ini", tree{"ci/settings.ini": "[pytest]\n"}, tree{"ci/settings.ini": "[pytest]\naddopts = -k one\n"}, []string{"ci/settings.ini"}},
		"where python looks":                {"PYTHONPATH=src python3 -m unittest", tree{}, tree{"src/sitecustomize.py": "x\n"}, []string{"src/sitecustomize.py"}},
	} {
		now := c.base.with(c.changes)
		if diff := cmp.Diff(c.want, sure(checks(c.command), c.base, now)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
