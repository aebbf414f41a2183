//go:build linux

package sandbox

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// targets are what those inside try.
type targets struct {
	Canary         string            `json:",omitempty"` // is in what they must not read
	Dial           map[string]string `json:",omitempty"` // name of a vector to address
	Datagram       string            `json:",omitempty"`
	Socket         string            `json:",omitempty"` // in the file system
	DatagramSocket string            `json:",omitempty"`
	Abstract       string            `json:",omitempty"`
	Victim         int               `json:",omitempty"`
	Secret         string            `json:",omitempty"` // a file
	Folder         string            `json:",omitempty"`
	Apart          []string          `json:",omitempty"` // files
	Link           string            `json:",omitempty"` // of theirs, to Folder
	Outer          int               // our user, whom they must not be
	Beyond         []string          `json:",omitempty"`
	Daemons        []string          `json:",omitempty"`
	SameUser       bool
}

type attackSetup struct {
	targets

	sb        Config
	dir       string
	listeners []*outsideListener // by which they would be seen to have come out
	laid      []string
	canaries  []*os.File // of laid, locked until they are removed
	victim    *victimProgram
}

// attack returns what got through, by vector.
func (w Config) attack(ctx context.Context, exec Exec, daemons ...string) (map[string]string, error) {
	st, err := w.setUpAttack(ctx, exec, daemons...)
	if st != nil {
		defer st.remove()
	}
	if err != nil {
		return nil, err
	}
	var saw map[string]string
	if err := st.sb.playInside(ctx, exec, attack, st.targets, &saw); err != nil {
		return nil, err
	}
	st.judge(saw)
	return saw, nil
}

// signalsGoOut reports whether programs inside could end ralph, so that what they changed would stay.
func (w Config) signalsGoOut() bool {
	return w.sameUser() && !w.mounts() && w.Level != Notify && landlockOf(w.abi) < scoping
}

// The roles of an attack.
const (
	attack = "attack" // inside
	victim = "victim" // what the attack is after, outside
)

// PlayInAttack plays a role of an attack. It reports whether it is one.
func PlayInAttack(role string) (bool, error) {
	switch role {
	case attack:
		return true, attackFromInside(os.NewFile(0, "targets"), os.NewFile(1, "findings"))
	case victim:
		return true, waitAsVictim(os.NewFile(0, "in"), os.NewFile(1, "out"))
	}
	return false, nil
}

func (w Config) setUpAttack(ctx context.Context, exec Exec, daemons ...string) (*attackSetup, error) {
	if w.Level == External && len(w.Beyond) == 0 {
		return nil, errors.New("level external: no address of another machine to try")
	}
	st := &attackSetup{sb: w}
	st.targets = targets{
		Canary: "RALPH-CANARY-" + rand.Text(), Dial: map[string]string{}, Outer: os.Geteuid(), SameUser: w.sameUser(), Beyond: w.Beyond,
		Daemons: append(daemonSockets(os.Geteuid()), daemons...),
	}
	for _, at := range w.Ports {
		if w.Level != External && !at.Addr().IsLoopback() { // its machine answers at none
			st.Beyond = append(slices.Clip(st.Beyond), at.String())
		}
	}
	var err error
	if st.dir, err = w.createOutside("ralph-attack-"); err != nil {
		return st, err
	}
	st.Folder, st.Secret = filepath.Join(st.dir, "folder"), filepath.Join(st.dir, "secret")
	err = errors.Join(
		os.Chmod(st.dir, 0o755), // another user goes through it, but puts no link in a file's place
		os.WriteFile(st.Secret, []byte(st.Canary), 0o644), os.Mkdir(st.Folder, 0o700))
	if err == nil && !w.sameUser() {
		err = makeWorldWritable(st.Folder)
	}
	if err != nil {
		return st, err
	}
	if err := errors.Join(st.openListeners(ctx), st.placeCanaries()); err != nil {
		return st, err
	}
	if st.victim, err = startVictim(ctx, exec, st.Canary); err != nil {
		return st, err
	}
	st.Victim = st.victim.pid
	return st, nil
}

func (st *attackSetup) remove() {
	for _, d := range st.listeners {
		_ = d.Close()
	}
	if st.victim != nil {
		st.victim.end()
	}
	for _, path := range append(st.laid, st.dir) {
		if path != "" {
			_ = os.RemoveAll(path)
		}
	}
	for _, file := range st.canaries {
		_ = file.Close()
	}
}

// judge asks the receivers. Reports from inside only count against the sandbox.
func (st *attackSetup) judge(saw map[string]string) {
	came := map[string]int{}
	for _, d := range st.listeners {
		came[d.vector.name] += d.visitors()
	}
	for name, n := range came {
		delete(saw, name)
		if n > 0 {
			saw[name] = strconv.Itoa(n) + " came out"
		}
	}
	delete(saw, atSignals.name)
	if st.victim.end(); st.victim.res.Signal != "" {
		saw[atSignals.name] = "it was ended"
	}
	delete(saw, atFolder.name)
	if _, err := os.Lstat(filepath.Join(st.Folder, writtenInside)); !errors.Is(err, fs.ErrNotExist) {
		saw[atFolder.name] = "a file was made"
	}
}

const writtenInside = "ralph-was-here"

// victimProgram is a program like ralph, with a secret in its environment.
type victimProgram struct {
	pid  int
	stop io.Closer
	done chan struct{}
	res  process.Result
	err  error
}

func startVictim(ctx context.Context, exec Exec, secret string) (*victimProgram, error) {
	in, stop := io.Pipe()
	said, out := io.Pipe()
	v := &victimProgram{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(v.done)
		v.res, v.err = exec(ctx, process.Command{
			Argv: []string{selfExe, Hidden, victim}, Env: []string{"RALPH_SECRET=" + secret}, Stdin: in, Stdout: out,
		})
		_ = out.CloseWithError(errors.Join(io.ErrUnexpectedEOF, v.err))
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err == nil {
		v.pid, err = strconv.Atoi(strings.TrimSpace(line))
	}
	if err != nil {
		v.end()
		return v, errors.Join(fmt.Errorf("start a program to be attacked: %w", err), v.err)
	}
	return v, nil
}

func (v *victimProgram) end() {
	_ = v.stop.Close()
	<-v.done
}

func waitAsVictim(in, out *os.File) error {
	if _, err := fmt.Fprintln(out, os.Getpid()); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}
