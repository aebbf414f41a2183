package sandbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// AttackResult is what one attempt from inside came to.
type AttackResult struct {
	Vector  string `json:"vector"`
	Control string `json:"control"` // what should have held
	Held    bool   `json:"held"`
	// Promised: the level has a control for it. What is not promised is
	// what a person accepts who asks for a lower level.
	Promised bool   `json:"promised"`
	Saw      string `json:"saw,omitempty"` // what got through; empty where it held
}

type vector struct {
	name, control string
	open          []Level // where nothing is promised
}

const (
	toPort      = "TCP to another port of loopback"
	toProxyPort = "TCP to another host at the proxy's port"
	toIPv6      = "TCP over IPv6"
	toMachine   = "TCP to the machine's own address"
	toBeyond    = "TCP to other machines"
	byMPTCP     = "multipath TCP"
	byFastOpen  = "TCP fast open"
	byUDP       = "UDP"
	byOther     = "sockets of other kinds"
	byRing      = "io_uring"
	toFileSock  = "another's local socket"
	toDatagram  = "another's local datagrams"
	toAbstract  = "another's abstract socket"
	toDaemons   = "daemons' sockets"
	atMemory    = "memory, environment and files of the program"
	atTracing   = "tracing the program"
	atSignals   = "signals to the program"
	atKernel    = "calls into the kernel"
	atUser      = "user and groups"
	atCaps      = "capabilities"
	atGains     = "gains by set-user-id programs"
	atFile      = "a file that is not named"
	atFolder    = "writing beside its folders"
	atReadOnly  = "writing to what is read-only"
	atApart     = "files of the job and its runner, logins in settings"
	atLink      = "a link in the place of a folder"
	atGit       = "git's HEAD, alternates and sequencer"
)

func attackVectors() []vector {
	low := []Level{External}
	return []vector{
		{name: toPort, control: "network namespace or supervisor", open: low},
		{name: toProxyPort, control: "network namespace or supervisor", open: low},
		{name: toIPv6, control: "network namespace or supervisor", open: low},
		{name: toMachine, control: "network namespace or supervisor", open: low},
		{name: toBeyond, control: "network namespace, supervisor, or the external sandbox"},
		{name: byMPTCP, control: "seccomp", open: low},
		{name: byFastOpen, control: "seccomp"},
		{name: byUDP, control: "network namespace or seccomp"},
		{name: byOther, control: "seccomp"},
		{name: byRing, control: "seccomp"},
		{name: toFileSock, control: "mounts, supervisor or seccomp"},
		{name: toDatagram, control: "mounts or seccomp"},
		{name: toAbstract, control: "network namespace, supervisor or Landlock", open: low},
		{name: toDaemons, control: "no groups, mounts, supervisor or seccomp"},
		{name: atMemory, control: "another user or Landlock"},
		{name: atTracing, control: "seccomp"},
		{name: atSignals, control: "another user or Landlock"},
		{name: atKernel, control: "seccomp"},
		{name: atUser, control: "another user"},
		{name: atCaps, control: "no capabilities"},
		{name: atGains, control: "no new privileges"},
		{name: atFile, control: "Landlock or mounts", open: low},
		{name: atFolder, control: "Landlock or mounts", open: low},
		{name: atReadOnly, control: "mounts, or put back afterwards", open: low},
		{name: atApart, control: "folders are granted without what is apart", open: low},
		{name: atLink, control: "no link of theirs is followed", open: low},
		{name: atGit, control: "put back afterwards", open: low},
	}
}

// Attack does from inside what must fail, and asks those who would have been
// reached whether they were: the listeners, the file, the program beside it.
// The error says that it could not be made, so that nothing is known.
func (w Config) Attack(ctx context.Context, exec Exec) ([]AttackResult, error) {
	saw, err := w.attack(ctx, exec)
	if err != nil {
		return nil, fmt.Errorf("attack the sandbox from inside: %w", err)
	}
	results := make([]AttackResult, 0, len(attackVectors()))
	for _, v := range attackVectors() {
		results = append(results, AttackResult{
			Vector: v.name, Control: v.control, Held: saw[v.name] == "", Saw: saw[v.name], Promised: w.blocks(v),
		})
	}
	return results, nil
}

// blocks tells which attacks a control prevents. Signals of other processes
// do harm but read nothing and reach nothing; on a laptop they are blocked
// since Linux 6.12.
func (w Config) blocks(v vector) bool {
	if v.name == atSignals && w.sameUser() && !w.scoped() {
		return false
	}
	return !slices.Contains(v.open, w.Level)
}

// Holds is nil if nothing got through that the level promises to hold.
func Holds(level Level, results []AttackResult) error {
	var through []string
	for _, r := range results {
		if !r.Held && r.Promised {
			through = append(through, fmt.Sprintf("%s (%s)", r.Vector, r.Saw))
		}
	}
	switch {
	case len(results) == 0:
		return fault.Usage(fmt.Sprintf("the sandbox level %s was not put to the test", level), "run ralph doctor --sandbox", nil)
	case len(through) == 0:
		return nil
	}
	return fault.Usage(
		fmt.Sprintf("the sandbox level %s does not hold: %s", level, strings.Join(through, ", ")),
		"run ralph doctor --sandbox to see what this machine offers; sandbox: none runs without a sandbox", nil)
}
