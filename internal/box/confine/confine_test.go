package confine_test

import (
	stdcmp "cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// nothing returns a machine on which nothing can be started inside.
func nothing(context.Context, process.Command) (process.Result, error) {
	return process.Result{}, errors.New("refused by the machine")
}

// A sandbox that does not stand is a fault with what to do, and nothing of it is left behind. No other user of a laptop
// goes into its folder.
func TestStartRefuses(t *testing.T) {
	home, seen := t.TempDir(), 0
	for _, test := range []struct {
		name      string
		asked     confine.Options
		what, fix string
	}{
		{"nothing in the Action", confine.Options{Level: sandbox.Auto}, "this machine offers no sandbox that contains the network", "sandbox: external if you provide a sandbox"},
		{"nothing on a laptop", confine.Options{Level: sandbox.Auto, Home: home}, "this machine offers no sandbox that contains the network", "--no-sandbox"},
		{"a level", confine.Options{Level: sandbox.Namespace}, "the sandbox level namespace is not available here", "; set sandbox: external if you provide a sandbox, or sandbox: none to run without one"},
		{"a pattern", confine.Options{Level: sandbox.Auto, Network: confine.Network{Allow: []string{"*.example.com"}}}, "cannot allow", "name one host"},
		{"an address at home", confine.Options{Level: sandbox.Auto, Network: confine.Network{Private: []string{"10.0.0.1"}}}, "cannot allow", "name one host"},
		{"no proxy", confine.Options{Level: sandbox.Auto, Network: confine.Network{Upstream: "ftp://x"}}, "company's proxy", "HTTPS_PROXY"},
		{"no bundle", confine.Options{Level: sandbox.Auto, Network: confine.Network{Bundle: "/nowhere.pem"}}, "cannot read the certificates", "SSL_CERT_FILE"},
		{
			"a key for the agent alone",
			confine.Options{Level: sandbox.Auto, Model: confine.Model{Agent: "amp", Keys: agent.Keys{ProviderAPIKey: "k"}}},
			"the agent amp cannot use a server", "sandbox: key-in-agent",
		},
		{
			"a server that is none",
			confine.Options{Level: sandbox.Auto, Model: confine.Model{Agent: "claude", Keys: agent.Keys{AnthropicAPIKey: "k", ModelBaseURL: "x"}}},
			"the address of the model's server", "model-base-url",
		},
		{
			"a server with a password",
			confine.Options{Level: sandbox.Auto, Model: confine.Model{Agent: "claude", Keys: agent.Keys{AnthropicAPIKey: "k", ModelBaseURL: "https://me:secret@a.example"}}},
			"the address of the model's server", "model-base-url",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			test.asked.Temp, test.asked.Exec = temp, func(ctx context.Context, c process.Command) (process.Result, error) {
				if test.asked.Home == "" {
					return nothing(ctx, c)
				}
				for _, dir := range must.Get(filepath.Glob(filepath.Join(temp, "ralph-inside-*")))(t) {
					seen++
					if info := must.Get(os.Stat(dir))(t); info.Mode().Perm() != 0o700 {
						t.Errorf("%s: %v", dir, info.Mode())
					}
				}
				return nothing(ctx, c)
			}
			sb, err := confine.Start(t.Context(), test.asked)
			if sb != nil && err == nil {
				t.Fatal("it stands")
			}
			if !strings.Contains(err.Error(), test.what) || !strings.Contains(fault.Hint(err), test.fix) || fault.Exit(err) != fault.ExitUsage {
				t.Errorf("%v\nhint: %s", err, fault.Hint(err))
			}
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
	if runtime.GOOS == "linux" && seen == 0 {
		t.Error("no folder was seen")
	}
}

// What PATH needs can be read: a bin with the rest of its toolchain, but not all of
// a home or another project for the sake of its bin, no settings that hold a login,
// and nothing of the job's workspace.
func TestToolchain(t *testing.T) {
	home := t.TempDir()
	work := filepath.Join(home, "work")
	for _, name := range []string{"bin", ".local/bin", ".cargo/bin", ".nvm/node/bin", ".nvm/node/lib", ".nvm/node/var", ".nvm/node/.npm", "work/repo/bin", "tools/plain", "other/bin", "shop/bin", "shop/lib", "cache", ".ssh", ".config/git", "pipx/hatch/bin", "pipx/hatch/lib", "setup-pnpm/node_modules/.bin", "work/repo/lib"} {
		must.Do(t, os.MkdirAll(filepath.Join(home, name), 0o755))
	}
	at := func(names ...string) []string {
		var paths []string
		for _, name := range names {
			paths = append(paths, filepath.Join(home, name))
		}
		return paths
	}
	for name, text := range map[string]string{
		"shop/.env": "KEY=x", "other/notes": "", ".cargo/config.toml": "[registries.shop]\ntoken = \"x\"", ".cargo/env": "export PATH=x:$PATH",
		".gitconfig": "[user]\n\tname = Ada\n", ".config/git/config": "[user]\n\tname = Ada\n", ".config/git/ignore": "*.swp\n", ".bashrc": "export PS1=", ".profile": "",
		"pipx/hatch/bin/hatch": "", "work/repo/bin/run": "", "shop/bin/sell": "",
	} {
		must.Do(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o644))
	}
	// Links lead to the toolchains of programs in the home.
	for _, program := range []string{"pipx/hatch/bin/hatch", "work/repo/bin/run", "shop/bin/sell"} {
		must.Do(t, os.Symlink(filepath.Join(home, program), filepath.Join(home, ".local/bin", filepath.Base(program))))
	}
	path := strings.Join(at("bin", "setup-pnpm/node_modules/.bin", ".local/bin", ".cargo/bin", ".nvm/node/bin", ".nvm/node/temp", "work/repo/bin", "tools/plain", "other/bin", "shop/bin", "gone"), string(filepath.ListSeparator)) + ":relative/bin"
	read := confine.Toolchain(confine.Options{Self: "/ralph", NoProgramDirs: []string{work}, Env: []string{"PATH=" + path, "HOME=" + home, "RUNNER_TOOL_CACHE=" + at("cache")[0]}})
	want := append([]string{"/ralph"}, at(".cargo/bin", ".nvm", ".local/bin", "cache", "bin", "setup-pnpm/node_modules/.bin", "setup-pnpm/node_modules", ".local/bin", "pipx/hatch/bin", "pipx/hatch/bin", "pipx/hatch/lib", ".cargo/bin", ".nvm/node/bin", ".nvm/node/bin", ".nvm/node/lib", "tools/plain", "other/bin", "shop/bin")...)
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	must.Do(t, os.Mkdir(at(".nvm/node/temp")[0], 0o755))
	// Nothing that holds the runner or what it keeps, and nothing that those inside write to at some time.
	must.Do(t, os.Symlink(at("pipx/hatch/bin/hatch")[0], at("bin/hatch")[0]))
	path = strings.Join(at("bin", "tools/plain", "work/repo/bin", ".nvm/node/bin"), string(filepath.ListSeparator))
	read = confine.Toolchain(confine.Options{Self: "/ralph", Home: home, WorkDirs: at("work", "bin"), NoProgramDirs: at("shop"), Private: at(".nvm/node/temp"), Env: []string{"PATH=" + path, "JAVA_HOME=" + at("work/repo")[0], "GOROOT=" + at("shop/lib")[0], "NVM_DIR=" + at("other")[0]}})
	if diff := cmp.Diff(append([]string{"/ralph"}, at(".config/git/ignore", ".cargo/env", ".cargo/bin", ".nvm", ".local/bin", "other", "tools/plain", ".nvm/node/bin")...), read); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	read = confine.Toolchain(confine.Options{Self: "/ralph", Home: home, Env: []string{"PATH=/usr/bin", "HOME=" + home}})
	for _, hidden := range at("", ".ssh", ".config", ".config/git", ".config/git/config", ".cargo", ".gitconfig", ".cargo/config.toml", ".bashrc", ".profile") {
		if slices.Contains(read, hidden) {
			t.Errorf("%s can be read: %q", hidden, read)
		}
	}
}

// What a home has beside its programs is no toolchain, also where ~/.local is a link to a folder of another name.
func TestALinkedHomeOfProgramsIsNoToolchain(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"disk/bin", "disk/share/keyrings"} {
		must.Do(t, os.MkdirAll(filepath.Join(home, name), 0o755))
	}
	must.Do(t, os.Symlink("disk", filepath.Join(home, ".local")))
	bin := filepath.Join(home, ".local/bin")
	want := []string{"/ralph", bin, bin}
	if diff := cmp.Diff(want, confine.Toolchain(confine.Options{Self: "/ralph", Env: []string{"PATH=" + bin, "HOME=" + home}})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Git inside reads the harmless settings of the machine and of the user, and no login.
func TestGitInsideReadsNoLogin(t *testing.T) {
	home := t.TempDir()
	system, included := filepath.Join(home, "system"), filepath.Join(home, "included")
	must.Do(t, errors.Join(
		os.WriteFile(system, []byte("[core]\n\tautocrlf = input\n[http \"https://example.com\"]\n\textraheader = AUTHORIZATION: basic x\n[include]\n\tpath = "+included+"\n"+
			"[url \"https://mirror.example.com/\"]\n\tinsteadOf = https://github.com/\n[url \"https://x:hush@example.com/\"]\n\tinsteadOf = a:\n[url \"git@example.com:\"]\n\tinsteadOf = https://b/\n"+
			"[http]\n\tproxy = http://x:hush@proxy\n\tsslKey = "+system+"\n"), 0o600),
		os.WriteFile(included, []byte("[init]\n\tdefaultBranch = trunk\n[credential]\n\thelper = store\n"), 0o600),
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Ada\n\tpassword = x\n"), 0o600),
	))
	machine := "core.autocrlf=input\ninit.defaultbranch=trunk\n"
	lists := "core.excludesfile=SYSTEM-core.excludesfile\ncore.attributesfile=SYSTEM-core.attributesfile\n"
	for name, test := range map[string]struct{ home, ignored, want string }{
		"laptop":                       {home, "", machine + lists + "user.name=Ada\n"},
		"job":                          {"", "0", machine},
		"laptop without a system file": {home, "1", lists + "user.name=Ada\n"},
		"job without a system file":    {"", "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := must.Get(confine.GitEnv(t.Context(), confine.Options{
				Home: test.home, Temp: t.TempDir(), Path: os.Getenv("PATH"), Exec: new(process.Runner).Run,
				Env: []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_SYSTEM=" + system, "GIT_CONFIG_NOSYSTEM=" + test.ignored},
			}))(t)
			list := exec.CommandContext(t.Context(), "git", "config", "--list")
			list.Dir, list.Env = t.TempDir(), append(env, "HOME="+t.TempDir())
			want := strings.ReplaceAll(test.want, "SYSTEM", environ.Get(env, "GIT_CONFIG_SYSTEM"))
			if out, err := list.CombinedOutput(); err != nil || string(out) != want+"commit.gpgsign=false\ntag.gpgsign=false\n" {
				t.Errorf("git config --list = %q, %v, want %q", out, err, want)
			}
		})
	}
}

// What passed is told once: what came since, the largest first, of a host that is
// both a model's server and another apart.
func TestWhatPassedIsToldOnce(t *testing.T) {
	a, b := egress.Name{Host: "a.example", Port: 443}, egress.Name{Host: "b.example", Port: 8443}
	first := []egress.Traffic{{Name: a, Tunnels: 1, Up: 5, Down: 7}, {Name: a, Model: true, Tunnels: 2, Up: 9, Down: 90}}
	then := []egress.Traffic{{Name: a, Tunnels: 1, Up: 5, Down: 7}, {Name: b, Tunnels: 1, Up: 1}, {Name: a, Model: true, Tunnels: 3, Up: 10, Down: 99}}
	for _, test := range []struct {
		before, now []egress.Traffic
		want        *journal.EgressPassed
	}{
		{nil, nil, nil},
		{nil, first, &journal.EgressPassed{Hosts: []journal.Passage{{Host: "a.example:443", Times: 2, Up: 9, Down: 90}, {Host: "a.example:443", Times: 1, Up: 5, Down: 7}}}},
		{first, first, nil},
		{first, append([]egress.Traffic{{Tunnels: 3, Up: 4}}, first...), &journal.EgressPassed{Hosts: []journal.Passage{{Times: 3, Up: 4}}}},
		{first, then, &journal.EgressPassed{Hosts: []journal.Passage{{Host: "a.example:443", Times: 1, Up: 1, Down: 9}, {Host: "b.example:8443", Times: 1, Up: 1}}}},
	} {
		if diff := cmp.Diff(test.want, confine.Since(test.before, test.now)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Many requested hosts do not fill the journal.
func TestManyHostsAreFewInTheJournal(t *testing.T) {
	var many []egress.Traffic
	for i := range 60 {
		many = append(many, egress.Traffic{Name: egress.Name{Host: fmt.Sprintf("h%d.example", i), Port: 443}, Tunnels: 1, Up: int64(i), Down: 1})
	}
	got := confine.Since(nil, many)
	if len(got.Hosts) != 50 || got.Hosts[0].Host != "h59.example:443" || got.Hosts[49].Up != 10 {
		t.Errorf("%d hosts, %+v", len(got.Hosts), got.Hosts)
	}
	if diff := cmp.Diff(&journal.Passage{Times: 10, Up: 45, Down: 10}, got.Rest); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

// What the program writes in an agent's tree belongs to the agent, however deep
// it has nested folders of its own there, and as long as the context lasts.
func TestLend(t *testing.T) {
	tree, uid := t.TempDir(), stdcmp.Or(os.Getuid(), 1500)
	deep := filepath.Join(tree, "ralph", strings.Repeat("d/", 1000))
	for _, dir := range []string{deep, filepath.Join(tree, "other")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	plan := filepath.Join(tree, "ralph", "prd.json")
	if err := errors.Join(os.WriteFile(plan, nil, 0o644), os.Symlink("../other", filepath.Join(tree, "ralph", "link"))); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := confine.Lending(uid).Lend(ctx, tree, "ralph"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end, Lend = %v", err)
	}
	must.Do(t, confine.Lending(uid).Lend(t.Context(), tree, "ralph"))
	for name, want := range map[string]int{plan: uid, filepath.Join(tree, "ralph"): uid, filepath.Join(tree, "other"): os.Getuid()} {
		info := must.Get(os.Lstat(name))(t)
		if stat, is := info.Sys().(*syscall.Stat_t); !is || int(stat.Uid) != want {
			t.Errorf("%s belongs to %v, want %d", name, info.Sys(), want)
		}
	}
}
