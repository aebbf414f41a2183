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
