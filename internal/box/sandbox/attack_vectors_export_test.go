//go:build linux

package sandbox

import (
	"context"
	"fmt"
	"strings"
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

// vector is one way out of the sandbox.
type vector struct {
	name, control string
	external      bool // promised at level external, too
}

var (
	toPort      = vector{"TCP to another port of loopback", "network namespace or supervisor", false}
	toProxyPort = vector{"TCP to another host at the proxy's port", "network namespace or supervisor", false}
	toIPv6      = vector{"TCP over IPv6", "network namespace or supervisor", false}
	toMachine   = vector{"TCP to the machine's own address", "network namespace or supervisor", false}
	toBeyond    = vector{"TCP to other machines", "network namespace, supervisor, or the external sandbox", true}
	byMPTCP     = vector{"multipath TCP", "seccomp", false}
	byFastOpen  = vector{"TCP fast open", "seccomp", true}
	byUDP       = vector{"UDP", "network namespace or seccomp", true}
	byOther     = vector{"sockets of other kinds", "seccomp", true}
	byRing      = vector{"io_uring", "seccomp", true}
	toFileSock  = vector{"another's local socket", "mounts, supervisor or seccomp", true}
	toDatagram  = vector{"another's local datagrams", "mounts or seccomp", true}
	toAbstract  = vector{"another's abstract socket", "network namespace, supervisor or Landlock", false}
	toDaemons   = vector{"daemons' sockets", "no groups, mounts, supervisor or seccomp", true}
	atMemory    = vector{"memory, environment and files of the program", "another user or Landlock", true}
	atTracing   = vector{"tracing the program", "seccomp", true}
	atSignals   = vector{"signals to the program", "another user, supervisor or Landlock", true}
	atKernel    = vector{"calls into the kernel", "seccomp", true}
	atUser      = vector{"user and groups", "another user", true}
	atCaps      = vector{"capabilities", "no capabilities", true}
	atGains     = vector{"gains by set-user-id programs", "no new privileges", true}
	atFile      = vector{"a file that is not named", "Landlock or mounts", false}
	atFolder    = vector{"writing beside its folders", "Landlock or mounts", false}
	atApart     = vector{"files of the job and its runner, logins in settings", "folders are granted without what is apart", false}
	atLink      = vector{"a link in the place of a folder", "no link of theirs is followed", false}
)

var attackVectors = []vector{
	toPort, toProxyPort, toIPv6, toMachine, toBeyond, byMPTCP, byFastOpen, byUDP, byOther, byRing,
	toFileSock, toDatagram, toAbstract, toDaemons, atMemory, atTracing, atSignals, atKernel, atUser, atCaps,
	atGains, atFile, atFolder, atApart, atLink,
}

// Attack does from inside what must fail, and asks those who would have been
// reached whether they were: the listeners, the file, the program beside it.
// The error says that it could not be made, so that nothing is known.
func (w Config) Attack(ctx context.Context, exec Exec, daemons ...string) ([]AttackResult, error) {
	saw, err := w.attack(ctx, exec, daemons...)
	if err != nil {
		return nil, fmt.Errorf("attack the sandbox from inside: %w", err)
	}
	results := make([]AttackResult, 0, len(attackVectors))
	for _, v := range attackVectors {
		results = append(results, AttackResult{
			Vector: v.name, Control: v.control, Held: saw[v.name] == "", Saw: saw[v.name], Promised: w.blocks(v),
		})
	}
	return results, nil
}

// blocks tells which attacks a control prevents. At external, signals of the same user reach others before Linux 6.12.
func (w Config) blocks(v vector) bool {
	return w.Level != External || v.external && (v != atSignals || !w.signalsGoOut())
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
		return fmt.Errorf("level %s was not attacked", level)
	case len(through) > 0:
		return fmt.Errorf("level %s does not hold: %s", level, strings.Join(through, ", "))
	}
	return nil
}
