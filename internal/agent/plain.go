package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/redact"
)

// toolNames are the variables by which toolchains are found and told how to work.
// Behind a wall nothing else of the user's goes in: what a secret is called,
// nobody can list.
var toolNames = split(`
	COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES PAGER EDITOR PWD OLDPWD SHLVL HOSTNAME CI
	MANPATH INFOPATH LOCALE_ARCHIVE DEBIAN_FRONTEND SOURCE_DATE_EPOCH
	XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_DIRS XDG_DATA_DIRS
	SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO
	GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE
	GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_TERMINAL_PROMPT GIT_PAGER GIT_EDITOR
	CC CXX CPP LD AR AS NM RANLIB STRIP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS MAKEFLAGS MAKELEVEL
	CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH OPENSSL_DIR PROTOC
	GOROOT GOPATH GOBIN GOCACHE GOMODCACHE GOTMPDIR GOENV GOFLAGS GOWORK GO111MODULE GOTOOLCHAIN GOPROXY GONOPROXY GOPRIVATE
	GOSUMDB GONOSUMDB GOINSECURE GOVCS GOOS GOARCH GOAMD64 GOARM GOARM64 GO386 GOEXPERIMENT GODEBUG GOMAXPROCS GOGC GOMEMLIMIT
	GOTRACEBACK GOCOVERDIR GOLANGCI_LINT_CACHE
	JAVA_HOME JDK_HOME JAVA_OPTS JAVA_TOOL_OPTIONS _JAVA_OPTIONS SBT_OPTS M2_HOME ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_ROOT
	VIRTUAL_ENV PNPM_HOME BUN_INSTALL CHROME_BIN TOKENIZERS_PARALLELISM OMP_NUM_THREADS
	BUNDLE_GEMFILE BUNDLE_PATH BUNDLE_BIN BUNDLE_WITH BUNDLE_WITHOUT BUNDLE_JOBS BUNDLE_FROZEN BUNDLE_DEPLOYMENT
	BUNDLE_APP_CONFIG BUNDLE_USER_HOME BUNDLE_USER_CACHE COMPOSER_HOME COMPOSER_CACHE_DIR COMPOSER_MEMORY_LIMIT NUGET_PACKAGES
`)

// toolBeginnings are the beginnings of such names; one that is itself called a secret
// is none of them.
var toolBeginnings = split(`
	LC_ CGO_ CARGO_ RUST NODE_ NPM_CONFIG_ PYTHON PIP_ UV_ POETRY_ PDM_ PIPENV_ TOX_ PYTEST_ COVERAGE_ CONDA_ PYENV_
	MAVEN_ GRADLE_ KOTLIN_ SDKMAN_ NVM_ FNM_ VOLTA_ YARN_ COREPACK_ DENO_ RUBY GEM_ RBENV_ ASDF_ MISE_ DOTNET_ PKG_CONFIG_ CMAKE_
	CCACHE_ PERL5 JEST_ VITEST_ PLAYWRIGHT_
`)

func split(list string) []string { return strings.Fields(list) }

// secretParts are parts of names that tell of a secret, and secretWords are whole words
// of such names.
var (
	secretParts = split("TOKEN SECRET PASSW PASSPHRASE CREDENTIAL AUTH APIKEY PRIVATE COOKIE")
	secretWords = split("KEY KEYS PWD PASS PAT OTP LOGIN IDENT WEBHOOK")
)

// userinfo is a name, mostly with a password, in an address.
var userinfo = pattern.Of(`[A-Za-z][A-Za-z0-9+.-]*://[^/\s?#]*@`)

// Plain is what of a person's environment is known to be harmless, and the
// names in more: those behind a wall get that alone. What belongs to the job,
// and what ends in _TOKEN, stays out even when more names it.
func Plain(environ []string, more ...string) []string {
	return only(environ, more, isPlain)
}

// only is what of environ is named, or is harmless by its name and looks it.
func only(environ, named []string, harmless func(name string) bool) []string {
	shapes := redact.New()
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		if forbidden(name) || slices.Contains(named, name) {
			return forbidden(name)
		}
		return !harmless(name) || userinfo.MatchString(value) || shapes.String(value) != value
	})
}

func isPlain(name string) bool {
	if slices.Contains(base, name) || slices.Contains(toolNames, name) {
		return true
	}
	name = strings.ToUpper(name)
	begins := func(beginning string) bool { return strings.HasPrefix(name, beginning) }
	return slices.ContainsFunc(toolBeginnings, begins) && !calledSecret(name)
}

func calledSecret(name string) bool {
	tells := func(part string) bool { return strings.Contains(name, part) }
	named := func(word string) bool { return slices.Contains(secretWords, word) }
	return slices.ContainsFunc(secretParts, tells) || slices.ContainsFunc(strings.FieldsFunc(name, notWord), named)
}

func notWord(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }
