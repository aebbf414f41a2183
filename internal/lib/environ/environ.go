// Package environ decides which variables a child process gets, in a job and on a person's machine, with and without a
// sandbox, and where variables place the folders of agents. It takes and returns lists of NAME=value.
package environ

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

var base = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ",
	"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
}

// proxies are the variables of a company's proxy, in both spellings that programs use. A proxy's address may contain a
// password, so they are passed only on the user's own machine.
var proxies = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// Certificates are the variables of several tools that name a file of certificates.
var Certificates = []string{
	"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO", "npm_config_cafile",
}

// WithoutUpdates are the variables that turn update checks of agents and tools off. A sandbox would refuse their hosts.
var WithoutUpdates = []string{
	"DISABLE_AUTOUPDATER=1", "NO_UPDATE_NOTIFIER=1",
	"npm_config_update_notifier=false", "PIP_DISABLE_PIP_VERSION_CHECK=1",
}

// Network returns the variables with which programs reach the network.
func Network() []string {
	all := slices.Concat(proxies, Certificates)
	slices.Sort(all)
	return slices.Compact(all)
}

// session are variables that make an agent join the session in which ralph was started.
var session = strings.Fields(`
	CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT
	GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR
	GIT_PREFIX GIT_NAMESPACE
`)

// gitSetting matches variables with git's configuration. Values may be logins, and git needs all of them.
var gitSetting = pattern.Of(`^GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)$`)

// Local returns an agent's environment on the user's own machine without a sandbox: the user's environment without
// known secrets, by name or value, and with the variables in extra.
func Local(environ []string, extra ...string) []string {
	return only(environ, slices.Concat(proxies, extra), func(name string) bool {
		if isPlain(name) {
			return true
		}
		if slices.Contains(session, name) || gitSetting.MatchString(name) {
			return false
		}
		return !isSecretName(strings.ToUpper(name))
	})
}

// jobPrefixes begin names that belong to the job, with which an agent could act as the job.
var jobPrefixes = []string{"GITHUB_", "ACTIONS_", "INPUT_", "RUNNER_", "STATE_", "OTEL_EXPORTER_"}

// Job returns an agent's environment in a job: the base variables and those in extra. It leaves out variables of the
// runner and names that end in _TOKEN, even if extra has them.
func Job(getenv func(string) string, extra ...string) []string {
	var env []string
	for _, name := range slices.Concat(base, extra) {
		if value := getenv(name); value != "" && !forbidden(name) {
			env = append(env, name+"="+value)
		}
	}
	return Merge(env)
}

// A mirror with a password is not passed into the sandbox.
var mirrors = []string{
	"GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOSUMDB", "GONOPROXY",
	"NPM_CONFIG_REGISTRY", "npm_config_registry", "YARN_NPM_REGISTRY_SERVER",
	"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL",
}

// Mirrors returns the variables of mirrors that are set and contain no password.
func Mirrors(getenv func(string) string) []string {
	var env []string
	for _, name := range mirrors {
		if value := getenv(name); value != "" && !strings.Contains(value, "@") {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func forbidden(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasSuffix(name, "_TOKEN") {
		return true
	}
	return slices.ContainsFunc(jobPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// secretEnds are the ends of the names of secrets.
var secretEnds = []string{
	"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS",
	"API_KEY", "ACCESS_KEY", "ACCESS_KEY_ID", "PRIVATE_KEY",
}

// Harmless returns the environment of checks without a sandbox: a person's environment without variables named like
// secrets. Addresses with a password stay, as tests use them for their databases.
func Harmless(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name)
		if forbidden(name) || slices.Contains(session, name) {
			return true
		}
		return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(name, end) })
	})
}

// toolNames matches variables of toolchains. Of the user's variables a sandbox gets only these.
var toolNames = strings.Fields(`
	COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES PAGER EDITOR PWD OLDPWD SHLVL HOSTNAME CI
	MANPATH INFOPATH LOCALE_ARCHIVE DEBIAN_FRONTEND SOURCE_DATE_EPOCH
	XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS
	SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO
	GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
	GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_TERMINAL_PROMPT GIT_PAGER GIT_EDITOR
	CC CXX CPP LD AR AS NM RANLIB STRIP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS MAKEFLAGS MAKELEVEL
	CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH OPENSSL_DIR PROTOC
	GOROOT GOPATH GOBIN GOCACHE GOMODCACHE GOTMPDIR GOENV GOFLAGS GOWORK GO111MODULE GOTOOLCHAIN
	GOPROXY GONOPROXY GOPRIVATE GOSUMDB GONOSUMDB GOINSECURE GOVCS
	GOOS GOARCH GOAMD64 GOARM GOARM64 GO386 GOEXPERIMENT GODEBUG GOMAXPROCS GOGC GOMEMLIMIT
	GOTRACEBACK GOCOVERDIR GOLANGCI_LINT_CACHE
	JAVA_HOME JDK_HOME JAVA_OPTS JAVA_TOOL_OPTIONS _JAVA_OPTIONS SBT_OPTS M2_HOME
	ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_ROOT
	VIRTUAL_ENV PNPM_HOME BUN_INSTALL CHROME_BIN TOKENIZERS_PARALLELISM OMP_NUM_THREADS
	BUNDLE_GEMFILE BUNDLE_PATH BUNDLE_BIN BUNDLE_WITH BUNDLE_WITHOUT BUNDLE_JOBS BUNDLE_FROZEN BUNDLE_DEPLOYMENT
	BUNDLE_APP_CONFIG BUNDLE_USER_HOME BUNDLE_USER_CACHE
	COMPOSER_HOME COMPOSER_CACHE_DIR COMPOSER_MEMORY_LIMIT NUGET_PACKAGES
`)

var toolPrefixes = strings.Fields(`
	LC_ CGO_ CARGO_ RUST NODE_ NPM_CONFIG_ PYTHON PIP_ UV_ POETRY_ PDM_ PIPENV_ TOX_ PYTEST_ COVERAGE_ CONDA_ PYENV_
	MAVEN_ GRADLE_ KOTLIN_ SDKMAN_ NVM_ FNM_ VOLTA_ YARN_ COREPACK_ DENO_ RUBY GEM_ RBENV_ ASDF_ MISE_ DOTNET_
	PKG_CONFIG_ CMAKE_ CCACHE_ PERL5 JEST_ VITEST_ PLAYWRIGHT_
`)

// secretParts are parts of the names of secrets, and secretWords whole words of them.
var (
	secretParts = strings.Fields("TOKEN SECRET PASSW PASSPHRASE CREDENTIAL AUTH APIKEY PRIVATE COOKIE")
	secretWords = strings.Fields("KEY KEYS PWD PASS PAT OTP LOGIN IDENT WEBHOOK")
)

var userinfo = pattern.Of(`[A-Za-z][A-Za-z0-9+.-]*://[^/\s?#]*@`)

// login matches options with a password or key, and user:password@host without a scheme.
var login = pattern.Of(`(?i)(?:passw(?:or)?d|passphrase|pass|pwd|\blogin|creds|token|secret|_auth|` +
	`api[._-]?key|access[._-]?key|private[._-]?key)["']?\s*(?:=\s*\S|:\s*[^\s/])|` +
	`--(?:passw(?:or)?d|token|secret|api-key)\s+\S|` +
	`://[^/\s]+/t/|` +
	`(?:^|[\s=,"'])[^\s/:@=,"']+:[^\s/@]+@[\w\[]`)

// Plain returns the part of a person's environment for a sandbox: known harmless variables without a login in their
// value, and those in more. It leaves out variables of the job and names that end in _TOKEN, even if more has them.
func Plain(environ []string, more ...string) []string {
	return slices.DeleteFunc(only(environ, more, isPlain), func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		if slices.Contains(base, name) || slices.Contains(more, name) {
			return false
		}
		return login.MatchString(value)
	})
}

// LeftOut returns the names of harmless variables that Plain leaves out: their values seem to hold a login.
func LeftOut(environ []string, more ...string) []string {
	passed := Plain(environ, more...)
	var names []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if !isPlain(name) || namesNoFolder(variable) || slices.Contains(passed, variable) {
			continue
		}
		names = append(names, name)
	}
	return names
}

// only returns the variables in named, and harmless ones whose values show no secret.
func only(environ, named []string, harmless func(name string) bool) []string {
	shapes := redact.New()
	env := make([]string, 0, len(environ))
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if forbidden(name) || namesNoFolder(variable) {
			continue
		}
		if slices.Contains(named, name) {
			env = append(env, variable)
			continue
		}
		if !harmless(name) || userinfo.MatchString(value) || shapes.String(value) != value {
			continue
		}
		env = append(env, variable)
	}
	return env
}

func isPlain(name string) bool {
	if slices.Contains(base, name) || slices.Contains(toolNames, name) {
		return true
	}
	name = strings.ToUpper(name)
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.ContainsFunc(toolPrefixes, begins) && !isSecretName(name)
}

// isSecretName reports whether a name, in upper case, is like those of secrets.
func isSecretName(name string) bool {
	if slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	words := strings.FieldsFunc(name, isBetweenWords)
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretWords, word) })
}

func isBetweenWords(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }

// Pairs makes variables of names and values. It leaves out empty values, which may count as keys.
func Pairs(pairs ...string) []string {
	var env []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			env = append(env, pairs[i]+"="+pairs[i+1])
		}
	}
	return env
}

// Merge joins environments. The last value of a variable counts.
func Merge(envs ...[]string) []string {
	var merged []string
	at := map[string]int{}
	for _, variable := range slices.Concat(envs...) {
		name, _, _ := strings.Cut(variable, "=")
		if i, ok := at[name]; ok {
			merged[i] = variable
			continue
		}
		at[name] = len(merged)
		merged = append(merged, variable)
	}
	return merged
}

// Get returns the last value of a variable in env.
func Get(env []string, name string) string {
	for _, variable := range slices.Backward(env) {
		if key, value, _ := strings.Cut(variable, "="); key == name {
			return value
		}
	}
	return ""
}

// Confined returns an environment without variables that name folders of the user.
func Confined(env []string) []string {
	var kept []string
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		namesFolder := strings.HasSuffix(name, "_HOME") || strings.HasSuffix(name, "_DIR")
		if namesFolder || name == "OPENCODE_CONFIG" {
			continue
		}
		kept = append(kept, variable)
	}
	return kept
}
