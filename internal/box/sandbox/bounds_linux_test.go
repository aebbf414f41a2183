package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// No core file holds what was in memory, and where another user is inside there
// is an end to their processes.
func TestProcessesAreBounded(t *testing.T) {
	for _, level := range confined() {
		w := testConfig(t, level, users()[0])
		out, _ := inside(t, w, process.Command{Argv: []string{"cat", "/proc/self/limits"}})
		want := map[string]string{"Max core file size": "0"}
		if os.Geteuid() == 0 {
			want["Max processes"] = "8192"
		}
		for name, most := range want {
			_, rest, _ := strings.Cut(out, name)
			if f := strings.Fields(rest); len(f) < 2 || f[0] != most || f[1] != most {
				t.Errorf("level %s: %s is not %s:\n%s", level, name, most, out)
			}
		}
	}
}

// Where memory runs out, the kernel ends those inside before ralph. They cannot change that.
func TestMemoryIsTakenFromInsideFirst(t *testing.T) {
	text := must.Get(os.ReadFile("/proc/self/oom_score_adj"))(t)
	own := must.Get(strconv.Atoi(strings.TrimSpace(string(text))))(t)
	const lower = "{ echo 0 >/proc/$$/oom_score_adj; } 2>/dev/null; cat /proc/$$/oom_score_adj"
	for _, who := range users() {
		for _, level := range confined() {
			out, _ := inside(t, testConfig(t, level, who), process.Command{Argv: []string{"sh", "-c", lower}})
			if want := strconv.Itoa(min(own+500, 1000)); strings.TrimSpace(out) != want {
				t.Errorf("as %s, level %s: it is %q, want %s", who.name, level, out, want)
			}
		}
	}
}

// A mount inside gives no other user, and no device but the named ones.
func TestMountsGiveNothing(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		out, _ := inside(t, testConfig(t, level, users()[0]), process.Command{Argv: []string{"cat", "/proc/self/mountinfo"}})
		seen := 0
		for line := range strings.Lines(out) {
			fields := strings.Fields(line)
			at, options := fields[4], strings.Split(fields[5], ",")
			if !slices.Contains(options, "nosuid") {
				t.Errorf("set-user-id programs count in %s: %q", at, options)
			}
			if filepath.Dir(at) != "/dev" && !slices.Contains(options, "nodev") || at == "/dev/shm" && !slices.Contains(options, "nodev") {
				t.Errorf("devices count in %s: %q", at, options)
			}
			seen++
		}
		if seen < 5 {
			t.Errorf("only %d mounts:\n%s", seen, out)
		}
	}
}

// A key that belongs to a certificate of the machine's is not read inside, not
// even by the user it belongs to, and certificates are.
func TestTheMachinesKeysAreNotThere(t *testing.T) {
	for _, level := range confined() {
		w := testConfig(t, level, user{})
		for folder, want := range map[string]int{"/etc/ssl/private": 2, "/etc/ssl/certs": 0} {
			if _, err := os.Stat(folder); err != nil {
				continue // nothing that could be read
			}
			if out, res := inside(t, w, process.Command{Argv: []string{"ls", folder}}); res.Exit != want {
				t.Errorf("level %s, ls %s: exit %d, want %d: %s", level, folder, res.Exit, want, out)
			}
		}
	}
}

func TestSettingsThatRevealStayOutside(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                       false,
		"registry=https://registry.example.com/": false,
		"[global]\nindex-url = https://pypi.example.com/simple\ncert = /etc/ssl/ca.pem\n": false,
		"#header = From: Your Name <username@site.domain>":                                false,
		"//registry.example.com/:_authToken=x":                                            true,
		"[http]\n\textraHeader = Authorization: basic eDp5":                               true,
		"[url \"https://x-access-token:y@github.com/\"]\n\tinsteadOf = git@github.com:":   true,
		"[url \"https://ghp_x@github.com/\"]\n\tinsteadOf = git@github.com:":              true,
		"[url \"ssh://git@github.com/\"]\n\tinsteadOf = https://github.com/":              false,
		"[user]\n\tsigningKey = 0A1B\n[credential]\n\thelper = !gh auth git-credential":   false,
		"ssh://git:x@host": true,
		"channels: [https://conda.example.com/t/x/main]":                          true,
		"proxy = ada:x@proxy.example.com:3128":                                    true,
		"export SHOP_DB_PWD=x":                                                    true,
		"OPENAI_API_KEY=x":                                                        true,
		`{"env_vars": {"GH_PAT": "x"}}`:                                           true,
		"export TOOL=ghp_0123456789abcdefghij0123":                                true,
		"smtpPass = x":                                                            true,
		`{"auths": {"hub": {"auth": "x"}}}`:                                       true,
		"AccountName=x;AccountKey=x":                                              true,
		"global-credential-providers = [\"cargo:token\"]":                         false,
		"git config --global core.hooksPath ~/hooks; alias k=kubectl; stty -ixon": false,
	} {
		if got := sandbox.Revealing(text); got != want {
			t.Errorf("%q reveals: %t, want %t", text, got, want)
		}
	}
}
