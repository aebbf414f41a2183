package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// class is what a command does for the checks.
type class string

const (
	testing   class = "test"
	linting   class = "lint"
	gathering class = "other checks" // a target or script that runs checks of its own
)

// command is a call of a tool that checks.
type command struct {
	file  string
	place string // the target, script or job
	tool  string
	class class
	args  []string
	loose string // how its failure is lost; empty: it counts
	line  int
	text  string
}

var tools = map[string]class{
	"pytest": testing, "py.test": testing, "unittest": testing, "jest": testing, "vitest": testing, "mocha": testing, "ava": testing, "tap": testing, "karma": testing,
	"playwright": testing, "cypress": testing, "go test": testing, "gotestsum": testing, "cargo test": testing, "nose2": testing, "node --test": testing, "deno test": testing,
	"bun test": testing, "react-scripts test": testing, "ng test": testing, "coverage": testing, "nyc": testing, "c8": testing, "ginkgo": testing, "behave": testing, "manage.py test": testing,
	"eslint": linting, "tsc": linting, "vue-tsc": linting, "prettier": linting, "biome": linting, "stylelint": linting, "oxlint": linting, "ruff": linting, "flake8": linting, "pylint": linting, "mypy": linting,
	"pyright": linting, "black": linting, "isort": linting, "bandit": linting, "golangci-lint": linting, "go vet": linting, "staticcheck": linting, "gosec": linting, "govulncheck": linting, "gofmt": linting,
	"cargo clippy": linting, "shellcheck": linting, "actionlint": linting, "tslint": linting, "xo": linting, "standard": linting, "codecov": testing,
	"tox": gathering, "nox": gathering, "make": gathering, "just": gathering, "task": gathering, "run": gathering, "pre-commit": gathering, "turbo": gathering, "nx": gathering, "lerna": gathering, "script": gathering,
	"lint-staged": gathering, "mage": gathering, "bazel": gathering, "gradle": gathering, "hatch": gathering,
}

var (
	checking   = pattern.Of(`(?i)(^|[:._/-])(tests?|lint\w*|checks?|type-?check|types|ci|verify|cov(er(age)?)?|validate|vet|unit|integration|e2e|spec|all|static|audit|check\w+|quality|format:check|fmt-check)([:._-]|\.sh$|$)`)
	separators = pattern.Of(`&&|\|\||;|\n|\|`)
	wrappers   = set("-- if ! bash sh -e -x -eu -ex -euo -eux pipefail npx pnpx bunx exec sudo time env xvfb-run cross-env dotenv command uvx dlx rye pdm")
	assignment = pattern.Of(`^[A-Za-z_]\w*=\S*$`)
	forgets    = pattern.Of(`^(true|:|/bin/true|exit 0|echo\b.*|printf\b.*|exit \$?0)$`)
)

// piece is a command of a line with what joins it to the next.
type piece struct {
	text string
	join string
}

func joints(text string) []piece {
	var all []piece
	quote, from := byte(0), 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		default:
			if at := separators.FindStringIndex(text[i:min(len(text), i+2)]); at != nil && at[0] == 0 {
				all = append(all, piece{strings.TrimSpace(text[from:i]), text[i : i+at[1]]})
				i += at[1] - 1
				from = i + 1
			}
		}
	}
	return append(all, piece{strings.TrimSpace(text[from:]), ""})
}

// shell reads a script: the checks in it, and whether their failure counts.
func shell(file, place, text string, line int) []command {
	if len(text) > 64<<10 {
		return nil
	}
	text = strings.ReplaceAll(text, "\\\n", "  ")
	var all []command
	loose := ""
	list := joints(text)
	at := line
	for i, p := range list {
		bare := strings.TrimLeft(p.text, "@+ \t")
		dash := strings.HasPrefix(bare, "-") && (strings.HasPrefix(bare, "- ") || path.Base(file) == "Makefile" || strings.HasSuffix(file, ".mk"))
		bare = strings.TrimLeft(bare, "-@ ")
		switch {
		case strings.HasPrefix(bare, "#"):
		case bare == "set +e":
			loose = "set +e stands before it"
		case strings.HasPrefix(bare, "set -") && strings.Contains(bare, "e"):
			loose = ""
		case bare == "exit 0" && p.join == "\n" && (i == 0 || list[i-1].join == "\n") && i+1 < len(list):
			loose = "exit 0 stands before it"
		default:
			if c, is := tool(bare); is {
				c.file, c.place, c.line, c.text = file, place, at, bare
				c.loose = forgotten(list[i:], loose, dash)
				all = append(all, c)
			}
		}
		if p.join == "\n" {
			at++
		}
	}
	return all
}

// forgotten says how the failure of the first piece is lost.
func forgotten(list []piece, before string, dash bool) string {
	if dash {
		return "a dash ignores its failure"
	}
	for i := 0; i+1 < len(list); i++ {
		next := strings.TrimRight(strings.TrimSpace(list[i+1].text), ")} ")
		switch list[i].join {
		case "||":
			if forgets.MatchString(next) {
				return "|| " + next
			}
		case ";", "\n":
			if (next == "exit 0" || next == "true" && list[i].join == ";") && i+2 == len(list) {
				return next + " stands behind it"
			}
			if list[i].join == "\n" {
				return before
			}
		}
	}
	return before
}

// tool reads one command.
func tool(text string) (command, bool) {
	fields := unwrapped(strings.Fields(strings.Trim(text, "()`")))
	if len(fields) == 0 {
		return command{}, false
	}
	called := strings.TrimPrefix(path.Base(fields[0]), "$(")
	if made, is := packaged(called, fields); is {
		return made, true
	}
	if len(fields) > 1 {
		if of, known := tools[called+" "+fields[1]]; known {
			return command{tool: called + " " + fields[1], class: of, args: fields[2:]}, true
		}
	}
	made := command{tool: called, class: tools[called], args: fields[1:]}
	switch {
	case called == "tox" || called == "nox":
		return made, true
	case builders[called]:
		return made, len(fields) == 1 || slices.ContainsFunc(fields[1:], checking.MatchString)
	case made.class != "" && called != "run" && called != "script":
		return made, true
	default:
		made.class = gathering
		return made, (strings.Contains(fields[0], "/") || strings.HasSuffix(called, ".sh")) && checking.MatchString(called)
	}
}

// builders run what they are told to; without a word, all of it.
var builders = set("make just task mage turbo nx bazel")

var runners = set("poetry uv pipenv hatch pdm rye conda")

// unwrapped takes off what only prepares for a command.
func unwrapped(fields []string) []string {
	for len(fields) > 0 && (assignment.MatchString(fields[0]) || wrappers[fields[0]]) {
		fields = fields[1:]
	}
	if len(fields) > 2 && runners[fields[0]] && fields[1] == "run" {
		fields = fields[2:]
		for len(fields) > 1 && strings.HasPrefix(fields[0], "-") {
			fields = fields[1:]
		}
	}
	if len(fields) > 1 && strings.HasPrefix(fields[0], "python") {
		fields = fields[1:]
		if fields[0] == "-m" {
			fields = fields[1:]
		}
	}
	return fields
}

// packaged reads npm, yarn, pnpm and bun: all of them run the same scripts.
func packaged(called string, fields []string) (command, bool) {
	if called != "npm" && called != "yarn" && called != "pnpm" && called != "bun" || len(fields) < 2 {
		return command{}, false
	}
	rest := fields[1:]
	for len(rest) > 0 && (rest[0] == "run" || rest[0] == "run-script" || rest[0] == "exec" || strings.HasPrefix(rest[0], "-")) {
		rest = rest[1:]
	}
	if len(rest) == 0 || fields[1] == "ci" || fields[1] == "install" || fields[1] == "i" {
		return command{}, false
	}
	if rest[0] == "t" {
		rest[0] = "test"
	}
	if cl, known := tools[rest[0]]; known && cl != gathering {
		return command{tool: rest[0], class: cl, args: rest[1:]}, true
	}
	return command{tool: "run " + rest[0], class: gathering, args: rest[1:]}, checking.MatchString(rest[0])
}
