package environ_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

func TestCheckVariable(t *testing.T) {
	for line, want := range map[string]string{
		"PGHOST=127.0.0.1":                 "",
		"DATABASE_URL=postgres://u:p@h/db": "",
		"a=b=c":                            "",
		"NPM_TOKEN=x":                      "for check-secrets",
		"PATH=/tmp":                        "cannot be set",
		"LD_PRELOAD=/tmp/x.so":             "cannot be set",
		"GIT_DIR=x":                        "cannot be set",
		"INPUT_AGENT=x":                    "cannot be set",
		"HTTPS_PROXY=http://x":             "cannot be set",
		"no_proxy=*":                       "cannot be set",
		"BASH_ENV=x":                       "cannot be set",
		"hush-hush":                        "write NAME=value",
		"A B=hush-hush":                    "write NAME=value",
		"":                                 "write NAME=value",
	} {
		refused(t, line, environ.CheckVariable(line), want)
	}
}

func TestCheckSecret(t *testing.T) {
	for line, want := range map[string]string{
		"NPM_TOKEN=hush-hush":    "",
		"STRIPE_KEY=hush-hush":   "",
		"STRIPE_KEY=hush":        "less than 6 characters",
		"STRIPE_KEY=hush      ":  "less than 6 characters",
		"GITHUB_TOKEN=hush-hush": "cannot be set",
		"hush-hush-hush":         "write NAME=value",
	} {
		refused(t, line, environ.CheckSecret(line), want)
	}
	err := environ.CheckLines([]string{"STRIPE_KEY=hush-hush", "STRIPE=KEY", "PATH=x"}, environ.CheckSecret)
	if err == nil || !strings.HasPrefix(err.Error(), "line 2: the value") {
		t.Errorf("CheckLines = %v, want what is wrong with line 2", err)
	}
}

// refused fails where a line is not refused for what is wanted, or its value is told.
func refused(t *testing.T, line string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%q: %v, want %q", line, err, want)
	}
	if err != nil && strings.Contains(err.Error(), "hush") {
		t.Errorf("%q: %v tells the value", line, err)
	}
}
