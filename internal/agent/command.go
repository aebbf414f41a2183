package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/stream"
)

// command is any program of the user's. It reads the prompt from its stdin,
// and what it prints are its words; its tools and its cost stay unknown, so
// its work is judged by what it leaves in the tree.
func command(words []string, o Options) (Adapter, error) {
	if len(words) == 0 {
		return Adapter{}, fault.Usage(`the agent "command" has no command`, "set agent.command in .ralph/settings.json, --agent-command, or in a workflow the input agent-command", nil)
	}
	argv := slices.Concat(words, o.Args)
	return Adapter{
		Name:    "command",
		Program: words[0],
		Install: "install it, or set another agent command",
		Argv:    func(Order) []string { return slices.Clone(argv) },
		Env:     func(order Order) []string { return merge(o.Keys.env(), given("RALPH_MODEL", order.Model)) },
		Decoder: func(order Order) Decoder { return &plain{echo: newEcho(order.Prompt)} },
	}, nil
}

// plain takes every line as the agent's words, but for the prompt, which some
// programs print before they begin: what it says of claims is nobody's claim.
type plain struct{ echo *echo }

// Line is the line as Text.
func (p *plain) Line(line []byte) []stream.Item {
	if p.echo.heard(string(line)) {
		return []stream.Item{stream.Progress{Text: short(string(line))}}
	}
	return []stream.Item{stream.Text{Text: string(line)}}
}

// End adds nothing: an exit code is all that such a program ends with.
func (*plain) End() []stream.Item { return nil }

// toolNames are the variables by which toolchains are found and told how to work.
// Behind a sandbox nothing else of the user's goes in: what a secret is called,
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
// names in more: those behind a sandbox get that alone. What belongs to the job,
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

// echo tells the lines of a prompt from an agent's own: they come in the
// prompt's order, from its beginning.
type echo struct {
	prompt []string
	next   int
}

func newEcho(prompt string) *echo {
	e := &echo{}
	for line := range strings.Lines(prompt) {
		if line = bare(line); line != "" {
			e.prompt = append(e.prompt, line)
		}
	}
	return e
}

// bare is a line without what programs put around one that they repeat.
func bare(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> |\t")) }

// heard tells whether line is the prompt's next one. Blank lines are nobody's.
func (e *echo) heard(line string) bool {
	line = bare(line)
	switch {
	case line == "" || len(e.prompt) == 0:
		return false
	case line == e.prompt[e.next]:
		e.next = (e.next + 1) % len(e.prompt)
		return true
	case line == e.prompt[0]: // it begins again
		e.next = 1 % len(e.prompt)
		return true
	}
	return false
}
