package tamper

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// narrowing are the options that leave tests or findings out, with the classes
// they mean something for.
var narrowing = pattern.Of(`^(-short|--short|-(test\.)?short|-(test\.)?run|-(test\.)?skip|--skip\b.*|-k|-m|--ignore\b.*|--ignore-glob.*|--deselect.*|-t|--testNamePattern.*|--testPathIgnorePatterns.*|--exclude.*|--extend-exclude.*|--extend-ignore.*|--grep|-g|--invert|--passWithNoTests|--pass-with-no-tests|--allow-empty|-u|--update|--updateSnapshot|--snapshot-update|--update-snapshots|--onlyChanged|-o|--changedSince.*|--lf|--last-failed|--ff|--exit-zero|--no-verify|--collect-only|--co|--dry-run|--listTests|-vet=off|--ignore-pattern|--quiet|--disable.*|-D|--issues-exit-code.*|--new|--new-from-rev.*|--ignore-missing-imports|--no-strict.*|--noCheck|--no-cov|--no-error-on-unmatched-pattern|--tests=false|--no-fail.*|--ignore-errors|--suppressTests|--testPathPattern.*|--fix-only|--if-present|--allow-failure.*|-e|--select.*|--rule.*|--no-check|--test-name-pattern.*)$`)

// holding are the options whose loss lets more pass.
var holding = pattern.Of(`^(-race|--strict\b.*|--max-warnings.*|--cov-fail-under.*|--fail-under.*|-Werror|-W|--check|--check-only|--error-exitcode.*|--forbid-only|--fail-on-.*|--exit-code|--report-unused-disable-directives.*|--ci|--strict-markers|--check-coverage|--diff)$`)

var numeric = pattern.Of(`^(--max-warnings|--cov-fail-under|--fail-under|--maxfail|--branches|--lines|--functions|--statements|--min-coverage|--fail-under-\w+)$`)

// ofTesters are options that mean something else to tools that do not test;
// valued are those with a value of their own.
var (
	ofTesters = set("-t -u -g")
	valued    = set("-k -m -run -skip --ignore --deselect --max-warnings --cov-fail-under --fail-under -t --grep -g -n -c --config -p -timeout -count -coverprofile -o -D --disable -e --exclude -tags --reporter -r --ignore-pattern --ext -covermode -parallel -cpu -W --select --testPathPattern --testPathIgnorePatterns --project -C --timeout -E --enable --lines --branches")
)

// options are the arguments of a command: --a=b and --a b are one.
func options(args []string) (flags map[string]string, places []string) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		a := strings.Trim(args[i], `"'`)
		if !strings.HasPrefix(a, "-") || len(a) < 2 {
			if place(a) {
				places = append(places, strings.TrimSuffix(strings.TrimPrefix(a, "./"), "/"))
			}
			continue
		}
		key, value, told := strings.Cut(a, "=")
		if !told && valued[key] && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			n := phrase(args[i+1:])
			value = strings.Join(args[i+1:i+1+n], " ")
			i += n
		}
		flags[key] = value
	}
	return flags, places
}

// place tells whether an argument may name what a command looks at.
func place(a string) bool {
	return a != "" && a != "&" && a != ".." && !strings.ContainsAny(a[:1], "$>{") && !strings.HasPrefix(a, "2>")
}

// phrase is how many words the first of them, which may be quoted, goes on for.
func phrase(args []string) int {
	quote := args[0][:min(1, len(args[0]))]
	if quote != "'" && quote != `"` {
		return 1
	}
	for i, a := range args {
		if strings.HasSuffix(a, quote) && (i > 0 || len(a) > 1) {
			return i + 1
		}
	}
	return 1
}

// weakened says how a command checks less than it did.
func weakened(was, now command) string {
	if was.loose == "" && now.loose != "" {
		return "its failure does not count: " + now.loose
	}
	a, placesA := options(was.args)
	b, placesB := options(now.args)
	for _, flag := range slices.Sorted(maps.Keys(b)) {
		old, had := a[flag]
		value := b[flag]
		switch number := had && numeric.MatchString(flag); {
		case number && sinks(flag, old, value):
			return flag + " lets more pass"
		case !number && narrowing.MatchString(flag) && (!had || value != old && value != "") && meant(flag, value, now):
			return "it has " + strings.TrimSpace(flag+" "+value) + " now"
		}
	}
	for _, flag := range slices.Sorted(maps.Keys(a)) {
		if _, still := b[flag]; !still && holding.MatchString(flag) {
			return "it has lost " + flag
		}
	}
	return fewerPlaces(was, placesA, placesB)
}

// sinks tells whether a number lets more pass: a limit that grows, or a floor
// that sinks.
func sinks(flag, old, value string) bool {
	if flag == "--max-warnings" {
		return parse(value) > parse(old)
	}
	return parse(value) < parse(old)
}

// meant tells whether an option leaves something out, with this tool.
func meant(flag, value string, c command) bool {
	switch {
	case ofTesters[flag]:
		return c.class == testing
	case flag == "-m":
		return c.tool == "pytest" || strings.Contains(value, "not")
	case flag == "-e":
		return c.tool == "tox" || c.tool == "nox"
	case flag == "-o":
		return c.tool == "jest"
	case flag == "--select":
		return c.tool == "ruff" || c.tool == "flake8"
	case flag == "-run":
		return strings.Trim(value, "'\"") != "^$" // benchmarks alone
	default:
		return true
	}
}

var everywhere = set(". ... src test tests spec lib app run")

// fewerPlaces says what a command does not look at any more.
func fewerPlaces(was command, before, after []string) string {
	if was.class == gathering && was.tool != "make" || was.tool == "tsc" {
		return ""
	}
	for _, old := range before {
		within := slices.ContainsFunc(after, func(p string) bool {
			return p == old || p == "." || p == "..." || strings.HasPrefix(old, strings.TrimSuffix(p, "..."))
		})
		named := !strings.Contains(old, "=") && (was.class != gathering || checking.MatchString(old))
		if named && !within && (len(after) > 0 || old == "run" || old == "check") {
			return "it does not look at " + short(old, 40)
		}
	}
	wide := slices.ContainsFunc(after, func(p string) bool { return everywhere[p] || strings.Contains(p, "=") })
	if len(before) == 0 && len(after) > 0 && was.class == testing && !wide {
		return "it only looks at " + short(after[0], 40)
	}
	return ""
}
