package tamper

import (
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
	r.worlds(was, now)
	r.replaced()
	r.swapped()
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
	if strings.HasSuffix(name, "pyproject.toml") || strings.HasSuffix(name, "ruff.toml") {
		ruffed(s.files[name])
	}
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

// ruffOld are the keys that ruff had for its rules before they had a section of
// their own.
var ruffOld = pattern.Of(`^(tool\.ruff\.)?((extend-)?(select|ignore|per-file-ignores)|fixable|unfixable|dummy-variable-rgx|mccabe|pydocstyle|isort|pylint|flake8-[\w-]+)([.\[].*)?$`)

func ruffed(all []setting) {
	for i, s := range all {
		if key, is := strings.CutPrefix(s.key, "tool.ruff."); ruffOld.MatchString(s.key) {
			all[i].key = "lint." + key
			if is {
				all[i].key = "tool.ruff.lint." + key
			}
		}
	}
}
