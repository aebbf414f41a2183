package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// attacked returns a sandbox as it was attacked by a user.
func attacked(t *testing.T, who user, o order) []sandbox.AttackResult {
	t.Helper()
	dir := folder(t, max(who.uid, who.outside))
	o.Sandbox.Write, o.Sandbox.UID, o.Sandbox.GID = []string{dir}, who.uid, who.uid
	runner := filepath.Join(folder(t, max(who.uid, who.outside)), "runner")
	tools := folder(t, max(who.uid, who.outside))
	must.Do(t, errors.Join(os.Mkdir(runner, 0o777), os.Mkdir(filepath.Join(tools, "etc"), 0o755)))
	write(t, filepath.Join(tools, "etc", "gitconfig"), "[http]\n\textraheader = AUTHORIZATION: x\n")
	open(t, runner)
	o.Sandbox.Read, o.Sandbox.Apart = []string{filepath.Dir(runner), tools}, []string{runner}
	o.Daemon = filepath.Join(folder(t, 0), "daemon")
	answering(t, "unix", o.Daemon, "daemon")
	open(t, o.Daemon)
	var list []sandbox.AttackResult
	who.play(t, &list, "assault", asJSON(t, o))
	return list
}

func through(list []sandbox.AttackResult) (names []string) {
	for _, r := range list {
		if !r.Held {
			names = append(names, r.Vector)
		}
	}
	slices.Sort(names)
	return names
}

// levels returns those that a user can have on this machine.
func (u user) levels() []sandbox.Level {
	all := here(sandbox.Namespace, sandbox.Notify)
	if u.weaker != "" {
		all = []sandbox.Level{sandbox.Notify}
	}
	return all
}

// TestAttack prints what make attack shows: each vector at each level.
func TestAttack(t *testing.T) {
	show(t, fmt.Sprintf("levels that this machine can have: %q", sandboxes()))
	for _, who := range users() {
		t.Run(who.name, func(t *testing.T) {
			var columns [][]sandbox.AttackResult
			for _, level := range who.levels() {
				open := sandbox.Config{Level: level, Ports: leading(freePort(t), 1)} // 1: also an ordinary user listens there, inside
				list := attacked(t, who, order{Sandbox: open})
				if err := sandbox.Holds(level, list); err != nil {
					t.Error(err)
				}
				columns = append(columns, list)
			}
			show(t, who.name+":\n"+table(who.levels(), columns))
		})
	}
}

// A part of the sandbox is taken away, and the attack must tell: else it proves
// nothing where it finds nothing. What two parts hold falls with both.
func TestTheAttackTellsWhatIsMissing(t *testing.T) {
	const (
		port, proxy, ipv6, machine = "TCP to another port of loopback", "TCP to another host at the proxy's port", "TCP over IPv6", "TCP to the machine's own address"
	)
	tests := []struct {
		who     user
		level   sandbox.Level
		without string
		want    []string
	}{
		{asOther, sandbox.Namespace, "network namespace", []string{port, ipv6, machine}},
		{asOther, sandbox.Namespace, "network namespace, landlock scopes, seccomp datagrams", []string{"UDP", "another's abstract socket"}},
		{asOther, sandbox.Namespace, "mounts, landlock files, seccomp unix sockets", []string{"a file that is not named", "another's local socket", "another's local datagrams", "writing beside its folders"}},
		{asOther, sandbox.Namespace, "mounts, seccomp unix sockets", []string{"another's local socket", "another's local datagrams", "daemons' sockets"}},
		{asOther, sandbox.Namespace, "mounts, landlock files", []string{"a file that is not named", "writing beside its folders"}},
		{asOther, sandbox.Namespace, "seccomp protocols", []string{"sockets of other kinds"}},
		{asOther, sandbox.Namespace, "seccomp", []string{"calls into the kernel", "io_uring"}},
		{asOther, sandbox.Namespace, "seccomp io_uring", []string{"io_uring"}},
		{asOther, sandbox.Namespace, "another user, mounts", []string{"user and groups"}},
		{asOther, sandbox.Namespace, "another user, landlock files, mounts, no capabilities", []string{"memory, environment and files of the program", "signals to the program", "user and groups"}},
		{asOther, sandbox.Namespace, "another user, no capabilities", []string{"capabilities", "user and groups"}},
		{asOther, sandbox.Notify, "supervisor, landlock ports", []string{port, proxy, ipv6, machine, "another's local socket"}},
		{asOther, sandbox.Notify, "supervisor, landlock ports, landlock scopes", []string{port, "another's abstract socket"}},
		{asOther, sandbox.Notify, "supervisor's look at the owner", []string{port, ipv6}},
		{asOther, sandbox.Notify, "seccomp datagrams", []string{"UDP"}},
		{asOther, sandbox.Notify, "seccomp fast open", []string{"TCP fast open"}},
		{asOther, sandbox.Notify, "seccomp unix sockets", []string{"another's local datagrams"}},
		{asOther, sandbox.Notify, "landlock files", []string{"a file that is not named", "writing beside its folders"}},
		{asOther, sandbox.Namespace, "what is apart", []string{"files of the job and its runner, logins in settings"}},
		{asOther, sandbox.Notify, "what is apart", []string{"files of the job and its runner, logins in settings"}},
		{asOther, sandbox.Namespace, "links of theirs", []string{"a link in the place of a folder"}},
		{asOther, sandbox.Notify, "links of theirs", []string{"a link in the place of a folder"}},
		{asOther, sandbox.Notify, "seccomp protocols", []string{"sockets of other kinds"}},
		{asOther, sandbox.Notify, "seccomp protocols, supervisor, landlock ports", []string{"multipath TCP"}},
		{asOrdinary, sandbox.Notify, "landlock scopes", []string{"signals to the program"}},
		{asOrdinary, sandbox.Notify, "landlock files", []string{"memory, environment and files of the program", "signals to the program"}},
		{asOrdinary, sandbox.Notify, "landlock files, seccomp", []string{"tracing the program"}},
		{asOrdinary, sandbox.Notify, "supervisor, landlock scopes", []string{"another's local socket", "another's abstract socket"}},
	}
	shown := map[string]bool{
		"gains by set-user-id programs": true, // Landlock and seccomp cannot be had without no_new_privs
		"TCP to other machines":         true, // TestAnotherSandboxIsJudgedByWhatItHolds
	}
	for _, tt := range tests {
		for _, name := range tt.want {
			shown[name] = true
		}
	}
	for _, r := range attacked(t, users()[0], order{Sandbox: sandbox.Config{Level: sandbox.Notify}}) {
		if !shown[r.Vector] {
			t.Errorf("no row shows that %q is ever seen to get through", r.Vector)
		}
	}
	for _, tt := range tests {
		if !tt.who.possible(tt.level) || !short.Has(string(tt.level)+" without "+tt.without) {
			continue
		}
		t.Run(string(tt.level)+" without "+tt.without, func(t *testing.T) {
			open := sandbox.Config{Level: tt.level, Ports: leading(freePort(t))}
			got := through(attacked(t, tt.who, order{Sandbox: open, Without: strings.Split(tt.without, ", ")}))
			for _, name := range tt.want {
				if !slices.Contains(got, name) && (name != ipv6 || six()) {
					t.Errorf("%q was held all the same; through came %q", name, got)
				}
			}
		})
	}
}

// An older kernel has less of Landlock.
func TestOlderKernels(t *testing.T) {
	tests := []struct {
		who   user
		level sandbox.Level
		abi   int
		want  string // what the fault names; empty: all is held
	}{
		{asOther, sandbox.Namespace, -1, ""},
		{asOther, sandbox.Namespace, 3, ""},
		{asOther, sandbox.Notify, 3, ""},
		{asOther, sandbox.Notify, 1, ""},
		{asOther, sandbox.Notify, 5, ""},
		{asOrdinary, sandbox.Namespace, 3, ""},
		{asOrdinary, sandbox.Notify, 3, ""},
	}
	for _, tt := range tests {
		if !tt.who.possible(tt.level) {
			continue
		}
		t.Run(fmt.Sprintf("%s at ABI %d as %s", tt.level, tt.abi, tt.who.name), func(t *testing.T) {
			list := attacked(t, tt.who, order{Sandbox: sandbox.Config{Level: tt.level}, ABI: tt.abi})
			if err := sandbox.Holds(tt.level, list); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLevelsThatAKernelCannotHave(t *testing.T) {
	for abi, says := range map[int]string{-1: "Landlock", 2: "Linux 6.2"} {
		w := sandbox.Pretend(testConfig(t, sandbox.Notify, asRoot), abi)
		_, err := w.Run(new(process.Runner).Run)(t.Context(), process.Command{Argv: []string{"/bin/true"}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("level notify with Landlock %d: %v, want an error that says %q", abi, err, says)
		}
	}
}

// Somebody else's sandbox is judged by what it holds. A network namespace without a
// way out, which the test makes, stands for a NetworkPolicy.
func TestAnotherSandboxIsJudgedByWhatItHolds(t *testing.T) {
	who := users()[0]
	elsewhere := answering(t, "tcp4", "127.0.0.3:0", "another machine")
	o := order{Sandbox: sandbox.Config{Level: sandbox.External, Beyond: []string{elsewhere.Addr().String()}}}
	if err := sandbox.Holds(sandbox.External, attacked(t, who, o)); err == nil || !strings.Contains(err.Error(), "other machines") {
		t.Errorf("with the network open: %v, want a fault that names other machines", err)
	}
	if said := checked(t, who, o); !strings.Contains(said, "a connection to "+o.Sandbox.Beyond[0]) {
		t.Errorf("with the network open the check says %q", said)
	}
	if who.alone = true; !roomy() {
		return // there is no way to make it
	}
	if err := sandbox.Holds(sandbox.External, attacked(t, who, o)); err != nil {
		t.Errorf("with the network held by another: %v", err)
	}
	if said := checked(t, who, o); said != "" {
		t.Errorf("with the network held by another the check says %q", said)
	}
}

func TestAnotherSandboxNeedsSomethingToTry(t *testing.T) {
	w := testConfig(t, sandbox.External, users()[0])
	if _, err := w.Check(t.Context(), new(process.Runner).Run); err == nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("Check = %v, want an error that asks for an address", err)
	}
}
