package environ_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

func TestJob(t *testing.T) {
	machine := map[string]string{
		"PATH": "/bin", "HOME": "/home/me", "LANG": "C.UTF-8", "PWD": "/x", "EMPTY": "",
		"GITHUB_TOKEN": "s", "GITHUB_ENV": "/f", "ACTIONS_RUNTIME_TOKEN": "s", "INPUT_GITHUB-TOKEN": "s",
		"NPM_TOKEN": "s", "RUNNER_TEMP": "/t", "GOFLAGS": "-mod=mod", "npm_token": "s",
	}
	got := environ.Job(func(name string) string { return machine[name] },
		"GOFLAGS", "GITHUB_TOKEN", "GITHUB_ENV", "ACTIONS_RUNTIME_TOKEN", "INPUT_GITHUB-TOKEN",
		"NPM_TOKEN", "npm_token", "RUNNER_TEMP", "EMPTY", "PATH")
	want := []string{"PATH=/bin", "HOME=/home/me", "LANG=C.UTF-8", "GOFLAGS=-mod=mod"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Job (-want +got):\n%s", diff)
	}
}

// On a laptop the environment is the user's own, and the way out, too; a job's is
// its own affair. What is called a secret or looks like one is the user's alone,
// and so is what belongs to a session or to a command of git's round ralph.
func TestLocal(t *testing.T) {
	mine := []string{
		"PATH=/bin", "FOO=1", "EMPTY=", "JAVA_HOME=/j", "GIT_AUTHOR_NAME=Ada", "PWD=/x", "http_proxy=http://proxy:3128",
		"HTTPS_PROXY=http://me:word@proxy:3128", "MY_KEY=1",
	}
	theirs := []string{
		"GITHUB_OUTPUT=/f", "NPM_TOKEN=1", "GH_PAT=1", "DB_PASSWORD=1", "OTHER_KEY=1", "aws_secret_access_key=1", "SSH_AUTH_SOCK=/s",
		"DATABASE_URL=postgres://ada:word@db/shop", "NOTE=ghp_0123456789abcdefghijABCDEFGHIJ012345",
		"CLAUDECODE=1", "GIT_DIR=/elsewhere/.git",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=x", "GIT_CONFIG_PARAMETERS='a.b'='c'",
	}
	if diff := cmp.Diff(mine, environ.Local(slices.Concat(mine, theirs), "MY_KEY", "NPM_TOKEN")); diff != "" {
		t.Errorf("Local (-want +got):\n%s", diff)
	}
}

func TestConfined(t *testing.T) {
	env := []string{"PATH=/bin", "CODEX_HOME=/x", "CLAUDE_CONFIG_DIR=/y", "XDG_CONFIG_HOME=/z", "OPENCODE_CONFIG=/c", "HOME=/h", "LANG=C"}
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/h", "LANG=C"}, environ.Confined(env)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Checks get a person's environment, but for what is known to be secret.
func TestHarmless(t *testing.T) {
	got := environ.Harmless([]string{
		"PATH=/bin", "GOFLAGS=-mod=mod", "GITHUB_TOKEN=1", "NPM_TOKEN=2", "AWS_SECRET_ACCESS_KEY=3", "AWS_ACCESS_KEY_ID=4",
		"DB_PASSWORD=5", "ANTHROPIC_API_KEY=6", "client_secret=7", "GITHUB_OUTPUT=8", "JAVA_HOME=/j", "GIT_DIR=/elsewhere", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_EXPORTER_OTLP_HEADERS=a=b", "TOKENIZERS_PARALLELISM=false",
	})
	want := []string{"PATH=/bin", "GOFLAGS=-mod=mod", "JAVA_HOME=/j", "TOKENIZERS_PARALLELISM=false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Harmless (-want +got):\n%s", diff)
	}
}

// Behind a sandbox an environment is what toolchains go by: a secret need not be
// called one to stay out.
func TestPlain(t *testing.T) {
	harmless := []string{
		"PATH=/bin", "LC_TIME=C", "GOFLAGS=-mod=mod", "GOPROXY=https://proxy.example,direct", "CARGO_HOME=/c", "RUST_LOG=debug", "NODE_OPTIONS=--x",
		"npm_config_cache=/n", "PYTHONPATH=lib", "VIRTUAL_ENV=/v", "JAVA_HOME=/j", "MAVEN_OPTS=-Xmx1g", "GRADLE_OPTS=-x", "CI=1", "GOPRIVATE=a.example",
		"JAVA_OPTS=-Dtokens.file=/t -Xmx1g", "LIBRARY_PATH=/opt/secret:/opt/openssl@3/lib", "PATH=/token=x", "CARGO_HTTP_PROXY=proxy.example:8080",
	}
	secret := []string{
		"DATABASE_URL=postgres://db/shop", "GH_PAT=x", "MYSQL_PWD=x", "OPENAI_KEY=x", "DOCKER_AUTH_CONFIG={}", "SLACK_WEBHOOK=https://hooks.example/x",
		"GOOGLE_APPLICATION_CREDENTIALS=/k", "GOOGLE_API_KEY=x", "GITHUB_TOKEN=x", "GITHUB_OUTPUT=/f", "DISPLAY=:0", "SSH_AUTH_SOCK=/s",
		"npm_config__auth=x", "npm_config_//registry.example/:_authToken=x", "npm_config_key=x", "NODE_AUTH_TOKEN=x", "CARGO_REGISTRIES_X_TOKEN=x",
		"POETRY_PYPI_TOKEN_X=x", "POETRY_HTTP_BASIC_X_PASSWORD=x", "UV_INDEX_X_PASSWORD=x", "YARN_NPM_AUTH_IDENT=a:b", "MAVEN_GPG_PASSPHRASE=x",
		"GRADLE_PUBLISH_KEY=x", "BUNDLE_GEMS__EXAMPLE=a:b", "GEM_HOST_API_KEY=x", "COREPACK_NPM_PASSWORD=x", "DENO_AUTH_TOKENS=x",
		"PIP_INDEX_URL=https://ada:word@pypi.example/simple", "GOPROXY=https://ada@proxy.example", "HTTPS_PROXY=http://ada:word@proxy.example:8080",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "MAVEN_ARGS=-Dx=ghp_0123456789abcdefghijABCDEFGHIJ012345", "OF_MINE=x",
		"JAVA_OPTS=-Ddb.password=word", "JAVA_TOOL_OPTIONS=-Dhttp.proxyPassword=word", "GRADLE_OPTS=-Dorg.gradle.project.apiKey='x'", "MAVEN_OPTS=-Xmx1g -Drepo.token=x",
		"PYTEST_ADDOPTS=--password x", "MAVEN_ARGS=-Dnexus.pwd=x", "GRADLE_OPTS=-PossrhPass=x", "SBT_OPTS=-Dsonar.login=x", "CONDA_CHANNELS=https://conda.example.com/t/x/main",
		"CARGO_HTTP_PROXY=ada:word@proxy.example:8080", "SBT_OPTS=-Dproxy=ada:word@proxy.example",
	}
	if diff := cmp.Diff(harmless, environ.Plain(append(append([]string{}, secret...), harmless...))); diff != "" {
		t.Errorf("Plain (-want +got):\n%s", diff)
	}
	got := environ.Plain(secret, "OF_MINE", "DATABASE_URL", "GITHUB_TOKEN", "GITHUB_OUTPUT", "OTEL_EXPORTER_OTLP_ENDPOINT", "JAVA_OPTS")
	if diff := cmp.Diff([]string{"DATABASE_URL=postgres://db/shop", "OF_MINE=x", "JAVA_OPTS=-Ddb.password=word"}, got); diff != "" {
		t.Errorf("what was named (-want +got):\n%s", diff)
	}
	left := []string{
		"PIP_INDEX_URL", "GOPROXY", "MAVEN_ARGS", "JAVA_TOOL_OPTIONS", "GRADLE_OPTS", "MAVEN_OPTS", "PYTEST_ADDOPTS", "MAVEN_ARGS", "GRADLE_OPTS", "SBT_OPTS", "CONDA_CHANNELS", "CARGO_HTTP_PROXY", "SBT_OPTS",
	}
	if diff := cmp.Diff(left, environ.LeftOut(append(secret, harmless...), "JAVA_OPTS")); diff != "" {
		t.Errorf("LeftOut (-want +got):\n%s", diff)
	}
}

// Each variable that names another folder for what an agent keeps in the home counts, for that and nothing else.
func TestPathIn(t *testing.T) {
	for _, c := range []struct{ variable, path, want string }{
		{"", ".claude/projects", "/home/.claude/projects"},
		{"CLAUDE_CONFIG_DIR=/c", ".claude/projects", "/c/projects"},
		{"CLAUDE_CONFIG_DIR=/c", ".claude.json", "/c/.claude.json"},
		{"CLAUDE_CONFIG_DIR=/c", ".codex", "/home/.codex"},
		{"CLAUDE_CONFIG_DIR=", ".claude", "/home/.claude"},
		{"CLAUDE_CONFIG_DIR=c/d", ".claude", "/project/c/d"},
		{"CODEX_HOME=./x", ".codex/sessions", "/project/x/sessions"},
		{"COPILOT_HOME=/c", ".copilot", "/c"},
		{"GEMINI_CLI_HOME=/g", ".gemini/settings.json", "/g/.gemini/settings.json"},
		{"XDG_CONFIG_HOME=/x", ".config/opencode", "/x/opencode"},
		{"XDG_CONFIG_HOME=/x", ".configure", "/home/.configure"},
		{"XDG_DATA_HOME=/x", ".local/share/amp", "/x/amp"},
		{"XDG_STATE_HOME=/x", ".local/state/opencode", "/x/opencode"},
		{"OPENCODE_CONFIG_DIR=/x", "$OPENCODE_CONFIG_DIR/bun.lock", "/x/bun.lock"},
		{"OPENCODE_CONFIG=/x.json", "$OPENCODE_CONFIG", "/x.json"},
	} {
		if got := environ.PathIn([]string{"HOME=/home", c.variable}, "/project", c.path); got != c.want {
			t.Errorf("with %q, %s is %s, want %s", c.variable, c.path, got, c.want)
		}
	}
	if dir, way := environ.Place("$OPENCODE_CONFIG_DIR/bun.lock", "/home", nil); dir+way != "" {
		t.Errorf("without its variable, %s in %s", way, dir)
	}
}

// An empty one is unset for the agent, too, which could take another folder than is guarded.
func TestNoFolderIsUnset(t *testing.T) {
	env := []string{"CLAUDE_CONFIG_DIR=", "XDG_CONFIG_HOME=", "CODEX_HOME=/c", "GOPATH="}
	named := []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"}
	want := []string{"CODEX_HOME=/c", "GOPATH="}
	for name, got := range map[string][]string{"Plain": environ.Plain(env, named...), "Local": environ.Local(env, named...)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if left := environ.LeftOut(env, named...); left != nil {
		t.Errorf("%q seem to hold a login", left)
	}
}

func TestAbsolute(t *testing.T) {
	got := environ.Absolute([]string{"CODEX_HOME=x", "COPILOT_HOME=/c", "GEMINI_CLI_HOME=.", "XDG_DATA_HOME=", "GOPATH=go"}, "/project")
	if diff := cmp.Diff([]string{"CODEX_HOME=/project/x", "GEMINI_CLI_HOME=/project"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInNewHome(t *testing.T) {
	got := environ.InNewHome([]string{"CODEX_HOME=/c", "CODEX_HOME_X=/c", "XDG_CONFIG_HOME=", "HOME=/home", "GOPATH=/go"})
	if diff := cmp.Diff([]string{"CODEX_HOME_X=/c", "HOME=/home", "GOPATH=/go"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
