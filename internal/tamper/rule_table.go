package tamper

import "github.com/ralph-loop/ralph/internal/pattern"

// bad is the way in which a setting gives way.
type bad int

const (
	isFalse  bad = iota // it was true and is not
	isTrue              // it is true and was not
	lower               // a number sinks, or goes
	higher              // a number grows, or goes
	risen               // a number grows, or comes
	more                // something is added to it
	fewer               // something is taken out of it
	weakerOf            // a word from a scale
)

// rule is a setting whose change is looked at.
type rule struct {
	of   role
	file string // in the path of the file; empty: any
	key  *pattern.Pattern
	bad  bad
	kind Kind
	why  string
}

// ruleTable is in the order in which rules are tried; a key has one rule.
var ruleTable = []rule{
	// Go
	{lints, "golangci", pattern.Of(`(^|\.)run\.tests$`), isFalse, LintLoosened, "tests are not linted any more"},
	{lints, "golangci", pattern.Of(`issues-exit-code$`), lower, LintLoosened, "what is found does not fail any more"},
	{lints, "golangci", pattern.Of(`linters\.(default|enable-all)$`), weakerOf, LintLoosened, "fewer linters are on by default"},
	{lints, "golangci", pattern.Of(`linters\.disable-all$|(^|\.)issues\.new$`), isTrue, LintLoosened, "less is linted"},
	{lints, "golangci", pattern.Of(`(linters|formatters)\.enable\[\]$`), fewer, LintLoosened, "a linter is no longer enabled"},
	{lints, "golangci", pattern.Of(`linters\.disable\[\]$|-disabled?-?\w*\[\]$|\.disable\[\]$|disabled-checks\[\]$`), more, LintLoosened, "a linter or check is disabled"},
	{lints, "golangci", pattern.Of(`(?i)(exclud|exclus|skip-|ignore)`), more, LintLoosened, "more is excluded from linting"},
	{lints, "golangci", pattern.Of(`(?i)settings.*(max|min-complexity|threshold|lines|statements|line-length|tab-width|min-len|min-occurrences|complexity|limit)[\w-]*$`), higher, LintLoosened, "a limit of a linter is raised"},
	{lints, "golangci", pattern.Of(`settings.*\.(check|enable|require|report|strict|all|exhaustive)[\w-]*$`), isFalse, LintLoosened, "a check of a linter is off"},
	// TypeScript and JavaScript
	{lints, "sconfig", pattern.Of(`compilerOptions\.(strict\w*|no(Implicit|Unused|Fallthrough|Unchecked|PropertyAccess|EmitOnError)\w*|alwaysStrict|exactOptionalPropertyTypes|useUnknownInCatchVariables|forceConsistentCasingInFileNames|checkJs|isolatedDeclarations)$`), isFalse, LintLoosened, "the compiler is less strict"},
	{lints, "sconfig", pattern.Of(`compilerOptions\.(allowUnreachableCode|allowUnusedLabels|suppress\w+|noCheck|noStrictGenericChecks)$`), isTrue, LintLoosened, "the compiler lets more pass"},
	{lints, "sconfig", pattern.Of(`^exclude\[\]$`), more, LintLoosened, "the compiler does not look at more files"},
	{lints, "eslint", pattern.Of(`(?i)(^|\.)(ignores|ignorePatterns|ignore)\[?\]?$`), more, LintLoosened, "more files are not linted"},
	{lints, "eslint", pattern.Of(`noInlineConfig$|reportUnusedDisableDirectives$`), isFalse, LintLoosened, "remarks may turn rules off again"},
	{lints, "eslint", pattern.Of(`(^|\.)(extends\[?\]?|\[\])$`), fewer, LintLoosened, "a set of rules goes"},
	{lints, "package.json", pattern.Of(`eslintConfig\.extends\[?\]?$`), fewer, LintLoosened, "a set of rules goes"},
	{lints, "package.json", pattern.Of(`eslintConfig\.ignorePatterns\[\]$|eslintIgnore\[\]$`), more, LintLoosened, "more files are not linted"},
	{lints, "biome", pattern.Of(`(?i)(\.|^)(ignore|includes)\[\]$`), more, LintLoosened, "more files are not linted"},
	{lints, "biome", pattern.Of(`(linter|rules)\.(enabled|recommended|all)$`), isFalse, LintLoosened, "rules are off"},
	// Python
	{lints, "", pattern.Of(`(ruff|flake8|lint|^)\.?(lint\.)?(extend-)?(select|enable)\[\]$`), fewer, LintLoosened, "rules are no longer selected"},
	{lints, "", pattern.Of(`(ruff|flake8|lint|pylint|MASTER|MAIN|MESSAGES CONTROL|messages_control|^)[\w." ]*\.?(lint\.)?((extend-)?(ignore|exclude|per-file-ignores|extend-per-file-ignores)|disable|ignore-paths|ignore-patterns)(\.[^\[]*|\[[^\]]*\])*$`), more, LintLoosened, "rules are ignored, or files left out"},
	{lints, "", pattern.Of(`(?i)(max[-_](complexity|args|branches|returns|statements|locals|lines|doc-length|public-methods|nested-blocks|bool-expr|attributes|line-length)|mccabe.*max[-_]complexity|(^|\.)line-length)$`), higher, LintLoosened, "a limit of a linter is raised"},
	{lints, "", pattern.Of(`pylint.*fail[-_]under$|^fail-under$|MASTER\.fail-under$`), lower, LintLoosened, "the linter's floor sinks"},
	{lints, "", pattern.Of(`mypy[^.]*\.?(overrides\[[^\]]*\])?\.?(strict\w*|disallow_\w+|warn_\w+|check_untyped_defs|no_implicit_\w+|extra_checks|local_partial_types)$`), isFalse, LintLoosened, "types are checked less"},
	{lints, "", pattern.Of(`mypy[^\[]*(ignore_errors|ignore_missing_imports|allow_\w+|implicit_\w+|follow_imports_for_stubs)$|mypy.*ignore_errors$`), isTrue, LintLoosened, "types are checked less"},
	{lints, "", pattern.Of(`mypy.*(disable_error_code|exclude)(\[\])?$`), more, LintLoosened, "types are checked less"},
	{lints, "", pattern.Of(`mypy.*follow_imports$`), weakerOf, LintLoosened, "types are checked less"},
	{lints, "", pattern.Of(`typeCheckingMode$|pyright.*report\w+$|^report[A-Z]\w+$`), weakerOf, LintLoosened, "types are checked less"},
	{lints, "", pattern.Of(`(pyright.*|^)(ignore|exclude)\[\]$`), more, LintLoosened, "more files are not checked"},
	{lints, "", pattern.Of(`bandit.*(skips|exclude_dirs)\[\]$`), more, LintLoosened, "fewer security checks"},
	// coverage
	{covers, "", pattern.Of(`(?i)(fail[-_]under|coverageThreshold\..*|thresholds?\.(\w+\.)*(branches|functions|lines|statements|perFile|file|package|total)|(nyc|c8)\.(branches|functions|lines|statements)|minimum_coverage)$`), lower, CoverageLowered, "a floor of coverage sinks"},
	{covers, "nycrc", pattern.Of(`^(branches|functions|lines|statements)$`), lower, CoverageLowered, "a floor of coverage sinks"},
	{covers, "c8rc", pattern.Of(`^(branches|functions|lines|statements)$`), lower, CoverageLowered, "a floor of coverage sinks"},
	{covers, "codecov", pattern.Of(`\.target$|\.range$`), lower, CoverageLowered, "a floor of coverage sinks"},
	{covers, "codecov", pattern.Of(`\.threshold$`), higher, CoverageLowered, "coverage may sink further"},
	{covers, "codecov", pattern.Of(`\.informational$|if_ci_failed$`), isTrue, CoverageLowered, "coverage only informs"},
	{covers, "", pattern.Of(`check-?[cC]overage$`), isFalse, CoverageLowered, "coverage is not checked any more"},
	{covers, "", pattern.Of(`coverage\.\w+\.(omit|exclude_lines|exclude_also|partial_branches)(\[\])?$|coveragePathIgnorePatterns\[\]$|coverage\.exclude\[\]$|(nyc|c8|^)\.?exclude\[\]$|(^|\.)ignore\[\]$`), more, CoverageLowered, "more is left out of coverage"},
	{covers, "", pattern.Of(`collectCoverageFrom\[\]$`), more, CoverageLowered, "more is left out of coverage"},
	// which tests run
	{running, "", pattern.Of(`(testPathIgnorePatterns|modulePathIgnorePatterns|watchPathIgnorePatterns|testIgnore|excludeSpecPattern|test\.exclude|norecursedirs|collect_ignore\w*)(\[\])?$|^(ignore|exclude)(\[\])?$`), more, CheckChanged, "tests are left out"},
	{running, "", pattern.Of(`(testMatch|testRegex|test\.include|testpaths|python_files|python_classes|python_functions|specPattern|testDir|^spec|(^|\.)roots|jest\.projects|^projects)(\[\])?$`), fewer, CheckChanged, "tests are not looked for where they were"},
	{running, "", pattern.Of(`(passWithNoTests|allowOnly|dangerouslyIgnoreUnhandledErrors|allowUncaught|forceExit)$`), isTrue, CheckChanged, "the runner lets more pass"},
	{running, "", pattern.Of(`(^|\.)(retry|retries|retryTimes|reruns)$`), risen, CheckChanged, "what fails is tried again"},
	{running, "", pattern.Of(`(xfail_strict|forbidOnly|forbidPending|failOnConsole|check-leaks)$`), isFalse, CheckChanged, "the runner lets more pass"},
	{running, "", pattern.Of(`(^|\.)(grep|fgrep|testNamePattern|grepInvert|shard)$`), more, CheckChanged, "tests are left out by name"},
	{running, "", pattern.Of(`filterwarnings(\[\])?$`), fewer, CheckChanged, "warnings are no longer errors"},
	{running, "", pattern.Of(`tool\.pytest\.ini_options\.(filterwarnings)(\[\])?$`), fewer, CheckChanged, "warnings are no longer errors"},
}

// scales are words from the strictest down.
var scales = [][]string{
	{"all", "standard", "fast", "none"},
	{"true", "false"},
	{"strict", "standard", "recommended", "basic", "off"},
	{"normal", "silent", "skip"},
	{"error", "warning", "warn", "information", "info", "none", "false", "off"},
}

// harmless are folders that nobody checks.
var harmless = pattern.Of(`(?i)(node_modules|dist|build|coverage|\.next|\bout\b|\be2e\b|generated|\bgen\b|vendor|\.git\b|__pycache__|\.?venv|site-packages|\.tox|\.nox|\.mypy_cache|\.ruff_cache|\.eggs|storybook|playwright|\.d\.ts|TYPE_CHECKING|__main__|NotImplementedError|abstractmethod|overload|pragma|__repr__|protocol)`)
