package shell_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/shell"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                       nil,
		"a  b\tc":                {"a", "b", "c"},
		`--model "gpt 5" 'a"b'`:  {"--model", "gpt 5", `a"b`},
		`a\ b "c\"d" ''`:         {"a b", `c"d`, ""},
		`--x='y z'`:              {"--x=y z"},
		"*.go {a,b}":             {"*.go", "{a,b}"},
		`"\"b\" \n" '\c'`:        {`"b" \n`, `\c`},
		`sh -c 'echo $HOME | x'`: {"sh", "-c", "echo $HOME | x"},
	} {
		got, err := shell.Words(line)
		if err != nil {
			t.Errorf("Words(%q): %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Words(%q) (-want +got):\n%s", line, diff)
		}
	}
	for _, line := range []string{`'open`, `"open`, "$HOME", "`id`", "a | b", "a; b", "$(id)", "a > b", `"$x"`} {
		if got, err := shell.Words(line); err == nil {
			t.Errorf("Words(%q) = %q, want an error", line, got)
		}
	}
}

// A program is named where the command cannot do without it.
func TestPrograms(t *testing.T) {
	for command, want := range map[string][]string{
		"npm test":                         {"npm"},
		"CI=1 npm test >log 2>&1":          {"npm"},
		"env CI=1 npm test":                {"npm"},
		"make lint && go test ./... | tap": {"make", "go", "tap"},
		"set -e; (cd web && npm test)":     {"set", "cd", "npm"},
		"{ eslint . && jest; }":            {"eslint", "jest"},
		"./check.sh":                       {"./check.sh"},
		"yarn -v && yarn test || npm test": nil,
		"! grep -r TODO .":                 {"grep"},
		"server &":                         {"server"},
		"if make; then jest; fi":           nil,
		"while jest; do make; done":        nil,
		"$RUNNER test":                     nil,
		"env -i npm test":                  nil,
		"PATH=bin:$PATH jest":              nil,
		". .venv/bin/activate && pytest":   nil,
		"export PATH=bin && jest":          nil,
		"t() { true; }; t":                 nil,
		"npm test &&":                      nil,
		"":                                 nil,
	} {
		if diff := cmp.Diff(want, shell.Programs(command)); diff != "" {
			t.Errorf("Programs(%q) (-want +got):\n%s", command, diff)
		}
	}
}

func TestScript(t *testing.T) {
	for command, want := range map[string]string{
		"./check.sh --all":           "./check.sh",
		"sh check.sh":                "check.sh",
		"env CI=1 python3 test/a.py": "test/a.py",
		"sh 'a b.sh' >log && make":   "a b.sh",
		"sh -c true":                 "",
		"python3 -m pytest tests":    "",
		"sh \"$FILE\"":               "",
		"make check.sh":              "",
		"true && sh check.sh":        "",
		"sh check.sh || true":        "",
		"bash":                       "",
		"":                           "",
	} {
		if got := shell.Script(command); got != want {
			t.Errorf("Script(%q) = %q, want %q", command, got, want)
		}
	}
}

// The parser would need more of a stack than Go has, and that ends the program.
func TestDeepTextsAreNotParsed(t *testing.T) {
	for _, text := range []string{"$(", "`", "(", "{ ", "if "} {
		if _, err := shell.Words(strings.Repeat(text, 4<<20)); err == nil {
			t.Errorf("%q is split, repeated 4 million times", text)
		}
		if programs := shell.Programs(strings.Repeat(text, 4<<20)); programs != nil {
			t.Errorf("%q repeated starts %v", text, programs)
		}
	}
}
