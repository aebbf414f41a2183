package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// role is what a file of settings decides.
type role string

const (
	lints    role = "lint"
	running  role = "runner" // how tests are found, and what counts
	covers   role = "coverage"
	scripted role = "commands"
	pipeline role = "ci"
)

var roleForms = []struct {
	form  *pattern.Pattern
	roles []role
}{
	{pattern.Of(`(^|/)\.golangci\.(ya?ml|toml|json)$`), []role{lints}},
	{pattern.Of(`(^|/)(\.eslintrc(\.\w+)?|eslint\.config\.\w+|\.eslintignore|biome\.jsonc?|\.oxlintrc\.json|tslint\.json|\.stylelintrc(\.\w+)?|[tj]sconfig[\w.-]*\.json)$`), []role{lints}},
	{pattern.Of(`(^|/)(\.flake8|\.?ruff\.toml|\.?mypy\.ini|\.?pylintrc|pyrightconfig\.json)$`), []role{lints}},
	{pattern.Of(`(^|/)(pyproject\.toml|setup\.cfg|tox\.ini)$`), []role{lints, running, covers, scripted}},
	{pattern.Of(`(^|/)(pytest\.ini|\.pytest\.ini)$`), []role{running, covers, scripted}},
	{pattern.Of(`(^|/)(\.coveragerc|\.?codecov\.ya?ml|\.nycrc(\.\w+)?|\.c8rc(\.\w+)?|\.testcoverage\.ya?ml|nyc\.config\.\w+)$`), []role{covers}},
	{pattern.Of(`(^|/)package\.json$`), []role{lints, running, covers, scripted}},
	{pattern.Of(`(^|/)(jest|vitest|vite|karma|playwright|cypress|ava|wdio|web-test-runner)[\w.-]*\.(config|conf)\.\w+$|(^|/)\.mocharc(\.\w+)?$|(^|/)(jest|vitest)\.[\w.-]*\.\w+$|(^|/)vitest\.workspace\.\w+$`), []role{running, covers}},
	{pattern.Of(`^\.github/(workflows|actions)/.*\.ya?ml$|^\.gitlab-ci\.ya?ml$|^\.gitlab/.*\.ya?ml$|^\.circleci/.*\.ya?ml$|^\.?azure-pipelines.*\.ya?ml$|^\.travis\.ya?ml$|^bitbucket-pipelines\.ya?ml$|^\.buildkite/.*\.ya?ml$|^\.drone\.ya?ml$|^\.woodpecker.*\.ya?ml$|^appveyor\.ya?ml$|^\.cirrus\.ya?ml$`), []role{pipeline}},
	{pattern.Of(`(^|/)Jenkinsfile[\w.-]*$`), []role{pipeline}},
	{pattern.Of(`(^|/)(\.pre-commit-config\.ya?ml|lefthook\.ya?ml|\.husky/[\w-]+|\.lintstagedrc(\.\w+)?)$`), []role{scripted}},
	{pattern.Of(`(^|/)([Mm]akefile|GNUmakefile|[Jj]ustfile|[Tt]askfile\.ya?ml|noxfile\.py|[\w.-]+\.mk|tasks\.py)$`), []role{scripted}},
	{pattern.Of(`(?i)(^|/)[\w.-]*(test|check|lint|cover|verify|(^|/)ci)[\w.-]*\.(sh|bash)$|(^|/)(scripts?|bin|hack|tools|ci|\.ci)/[\w.-]*(test|check|lint|cover|verify|ci)[\w-]*$`), []role{scripted}},
}

func rolesOf(name string) []role {
	for _, f := range roleForms {
		if f.form.MatchString(name) && !noFolder.MatchString(name) {
			return f.roles
		}
	}
	return nil
}

func has(name string, wanted role) bool { return slices.Contains(rolesOf(name), wanted) }

// setting is a value at its place: "jobs.test.steps[Test].run".
type setting struct {
	key   string
	value string
	line  int
}

// settings compares rules, thresholds and commands.
func (r *report) settings() {
	var was, now sheet
	for _, c := range r.changes {
		if len(rolesOf(c.Path)) == 0 {
			continue
		}
		was.add(c.Path, c.Before)
		now.add(c.Path, c.After)
		r.numbers(c)
	}
	r.rules(was, now)
	r.severities(was, now)
	r.pipelines(was, now)
	r.commands(was, now)
}

// sheet are the settings of all files on one side.
type sheet struct {
	files map[string][]setting
	texts map[string]string
}

func (s *sheet) add(name string, data []byte) {
	if s.files == nil {
		s.files, s.texts = map[string][]setting{}, map[string]string{}
	}
	if data == nil {
		return
	}
	s.texts[name] = string(data)
	s.files[name] = flat(name, data)
	if strings.Contains(name, "golangci") {
		modern(s.files[name])
	}
}

// newer are the keys of golangci-lint's first version, as the second has them.
var newer = strings.NewReplacer("linters-settings.", "linters.settings.", "issues.exclude-rules", "linters.exclusions.rules", "issues.exclude-dirs", "linters.exclusions.paths", "issues.exclude-files", "linters.exclusions.paths")

func modern(all []setting) {
	for i, s := range all {
		all[i].key = newer.Replace(s.key)
		if s.key == "linters.disable-all" && s.value == "true" {
			all[i].key, all[i].value = "linters.default", "none"
		}
		if s.key == "linters.enable-all" && s.value == "true" {
			all[i].key, all[i].value = "linters.default", "all"
		}
	}
}

const (
	maxSettings = 256 << 10
	maxKeys     = 4000
)

// flat reads a file of settings; nothing where it cannot be read.
func flat(name string, data []byte) []setting {
	if len(data) > maxSettings || tangled(data) {
		return nil
	}
	base := path.Base(name)
	switch end := path.Ext(name); {
	case end == ".yml" || end == ".yaml" || base == ".mocharc" || base == ".eslintrc" && !strings.Contains(string(data), "{"):
		return flatYAML(data)
	case end == ".toml":
		return flatTOML(data)
	case end == ".ini" || end == ".cfg" || base == ".flake8" || base == ".coveragerc" || strings.HasSuffix(base, "pylintrc"):
		return flatINI(string(data))
	case end == ".json" || strings.HasPrefix(base, ".lintstagedrc") || end == ".jsonc" || end == ".json5" || languageOf(name) == script || strings.HasPrefix(base, ".eslintrc") || strings.HasPrefix(base, ".nycrc"):
		return flatObject(string(data))
	case base == ".eslintignore":
		return flatLines("ignores[]", string(data))
	default:
		return nil
	}
}

func flatLines(key, text string) []setting {
	var all []setting
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, setting{key, line, n})
		}
	}
	return all
}

// tangled tells whether a text is nested or long-winded as only a trap is.
func tangled(data []byte) bool {
	depth, run := 0, 0
	for _, c := range data {
		switch c {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case '\n':
			run = -1
		}
		if run++; depth > 100 || run > 4000 {
			return true
		}
	}
	return false
}
