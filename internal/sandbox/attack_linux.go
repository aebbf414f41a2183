package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/process"
)

// targets are what those inside try. Of a canary they know only the prefix.
type targets struct {
	Dial           map[string]string `json:",omitempty"` // vector to address
	Datagram       string            `json:",omitempty"`
	Socket         string            `json:",omitempty"` // in the file system
	DatagramSocket string            `json:",omitempty"`
	Abstract       string            `json:",omitempty"`
	Victim         int               `json:",omitempty"`
	Secret         string            `json:",omitempty"` // a file
	Folder         string            `json:",omitempty"`
	Apart          []string          `json:",omitempty"` // files
	Link           string            `json:",omitempty"` // of theirs, to Folder
	ReadOnly       []string          `json:",omitempty"`
	Git            string            `json:",omitempty"` // a guarded git folder
	Outer          int               // our user, whom they must not be
	Beyond         []string          `json:",omitempty"`
	Daemons        []string          `json:",omitempty"`
	Loopback       bool              // only show that a server inside is reached
	SameUser       bool
}

// patience is a hundred times what the attempts take.
const patience = 30 * time.Second

var errLate = fmt.Errorf("it did not end within %s", patience)

const canary = "RALPH-CANARY-"

type stage struct {
	targets

	sb     Config
	dir    string
	secret string
	doors  []*door // by which they would be seen to have come out
	laid   []string
	victim *victimOf
}

func (w Config) attack(ctx context.Context, next Next) (map[string]string, error) {
	st, err := w.setStage(ctx, next)
	if st != nil {
		defer st.strike()
	}
	if err != nil {
		return nil, err
	}
	saw, err := st.sb.inside(ctx, next, st.targets)
	if err != nil {
		return nil, err
	}
	st.judge(ctx, saw)
	return saw, nil
}

func (w Config) sameUser() bool { return w.UID == 0 || w.UID == os.Geteuid() }

func (w Config) scoped() bool { return landlockOf(w.abi) >= 6 }

// inside repeats attempts that hang, which happened once in hundreds of runs.
func (w Config) inside(ctx context.Context, next Next, t targets) (map[string]string, error) {
	saw, err := w.insideOnce(ctx, next, t)
	if errors.Is(err, errLate) && ctx.Err() == nil {
		return w.insideOnce(ctx, next, t)
	}
	return saw, err
}

// insideOnce passes this program as a descriptor: its folder may be missing inside.
func (w Config) insideOnce(ctx context.Context, next Next, t targets) (map[string]string, error) {
	self, err := os.Open(itself)
	if err != nil {
		return nil, err
	}
	defer func() { _ = self.Close() }()
	orders, err := json.Marshal(t) //nolint:gosec // what is called a secret there is a path
	if err != nil {
		return nil, err
	}
	var out, said bytes.Buffer
	const lent = "/proc/self/fd/3"
	w.Mended = nil // the attack's own changes of ReadOnly are not reported
	w.Read = slices.Concat(w.Read, []string{lent})
	res, err := w.Run(next)(ctx, process.Command{
		Argv: []string{lent, Hidden, attack}, Dir: "/", Files: []*os.File{self},
		Stdin: bytes.NewReader(orders), Stdout: &out, Stderr: &said, Timeout: patience,
	})
	switch {
	case err != nil:
		return nil, err
	case res.TimedOut:
		return nil, errLate
	}
	var saw map[string]string
	if err := json.Unmarshal(out.Bytes(), &saw); err != nil || res.Exit != 0 {
		return nil, fmt.Errorf("exit %d, %w, %.400s", res.Exit, errors.Join(err), said.String())
	}
	return saw, nil
}

func (w Config) setStage(ctx context.Context, next Next) (*stage, error) {
	if w.Level == External && len(w.Beyond) == 0 {
		return nil, errors.New("level external: no address of another machine to try")
	}
	st := &stage{sb: w, secret: canary + rand.Text()}
	st.targets = targets{
		Dial: map[string]string{}, Outer: os.Geteuid(), SameUser: w.sameUser(), ReadOnly: w.ReadOnly, Beyond: w.Beyond,
		Daemons: append(daemonsOf(os.Geteuid()), w.daemons...),
	}
	for _, at := range w.Ports {
		if w.Level != External && !at.Addr().IsLoopback() { // its machine answers at none
			st.Beyond = append(slices.Clip(st.Beyond), at.String())
		}
	}
	var err error
	if st.dir, err = w.besides("ralph-attack-"); err != nil {
		return st, err
	}
	if err := os.Chmod(st.dir, 0o777); err != nil { //nolint:gosec // it is for them to try
		return st, err
	}
	st.Folder, st.Secret = st.dir, filepath.Join(st.dir, "secret")
	if err := os.WriteFile(st.Secret, []byte(st.secret), 0o644); err != nil {
		return st, err
	}
	if err := errors.Join(st.openDoors(ctx), st.layBait(), st.layGit()); err != nil {
		return st, err
	}
	if st.victim, err = startVictim(ctx, next, st.secret); err != nil {
		return st, err
	}
	st.Victim = st.victim.pid
	return st, nil
}

const longest = 70

func (w Config) besides(name string) (string, error) {
	theirs := slices.Concat(w.Write, w.Read)
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp", "/home", "/srv"} {
		if len(dir) > longest || slices.ContainsFunc(theirs, func(other string) bool { return within(other, dir) }) {
			continue
		}
		if made, err := os.MkdirTemp(dir, name); err == nil {
			return made, nil
		}
	}
	return "", errors.New("no folder but theirs can be written to")
}

func (st *stage) strike() {
	for _, d := range st.doors {
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
}

// judge asks the receivers. Reports from inside only count against the sandbox.
func (st *stage) judge(ctx context.Context, saw map[string]string) {
	for name, got := range saw {
		saw[name] = st.ours(got)
	}
	for _, d := range st.doors {
		delete(saw, d.vector)
	}
	for _, d := range st.doors {
		if n := d.came(ctx); n > 0 {
			saw[d.vector] = strconv.Itoa(n) + " came out"
		}
	}
	delete(saw, atSignals)
	if st.victim.end(); st.victim.res.Signal != "" {
		saw[atSignals] = "it was ended"
	}
	delete(saw, atFolder)
	if _, err := os.Lstat(filepath.Join(st.Folder, intruder)); !errors.Is(err, fs.ErrNotExist) {
		saw[atFolder] = "a file was made"
	}
	delete(saw, atReadOnly)
	for _, path := range st.ReadOnly {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(intruder)) {
			saw[atReadOnly] = path
		}
	}
	delete(saw, atGit)
	if planted := st.planted(); len(planted) > 0 {
		saw[atGit] = strings.Join(planted, between)
	}
}

// ours leaves out the canaries of other runs, and the prefix in our own memory.
func (st *stage) ours(found string) string {
	parts := slices.DeleteFunc(strings.Split(found, between), func(part string) bool {
		return strings.Contains(part, canary) && !strings.Contains(part, st.secret)
	})
	return strings.Join(parts, between)
}

const intruder = "ralph-was-here"

// victimOf is a program like ralph, with a secret in its environment.
type victimOf struct {
	pid  int
	stop io.Closer
	done chan struct{}
	res  process.Result
	err  error
}

func startVictim(ctx context.Context, next Next, secret string) (*victimOf, error) {
	in, stop := io.Pipe()
	said, out := io.Pipe()
	v := &victimOf{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(v.done)
		v.res, v.err = next(ctx, process.Command{
			Argv: []string{itself, Hidden, victim}, Env: []string{"RALPH_SECRET=" + secret}, Stdin: in, Stdout: out,
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

func (v *victimOf) end() {
	_ = v.stop.Close()
	<-v.done
}

func standStill(in, out *os.File) error {
	if _, err := fmt.Fprintln(out, os.Getpid()); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}
