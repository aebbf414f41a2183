package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// attempts are what a program inside tries.
type attempts struct {
	File    string   // in no folder of the sandbox
	Server  string   // of this machine
	Beyond  []string // servers of others
	Process int      // ralph
	Numbers string   // the namespace of this number
}

// outcome is what it could do.
type outcome struct {
	Loopback bool // it reached a server of its own
	File     bool
	Server   bool
	Beyond   string // the first that it reached
	Process  bool
}

const (
	checkTimeout   = 30 * time.Second // a hundred times what the attempts take
	connectTimeout = time.Second
	processes      = "/proc/self/ns/pid" // links to the namespace that numbers of processes belong to
)

var errCheckTimeout = fmt.Errorf("it did not end within %s", checkTimeout)

func (w Config) tryFromInside(ctx context.Context, exec Exec) ([]breach, error) {
	if w.Level == External && len(w.Beyond) == 0 {
		return nil, errors.New("level external: no address of another machine to try")
	}
	dir, err := w.createOutside("ralph-check-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = server.Close() }()
	numbers, err := os.Readlink(processes)
	if err != nil {
		return nil, err
	}
	asked := attempts{
		File:    filepath.Join(dir, "file"),
		Server:  server.Addr().String(),
		Beyond:  w.Beyond,
		Process: os.Getpid(),
		Numbers: numbers,
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // only the sandbox may hold them
		return nil, err
	}
	if err := os.WriteFile(asked.File, nil, 0o644); err != nil {
		return nil, err
	}
	got, err := w.tryInside(ctx, exec, asked)
	if err != nil {
		return nil, err
	}
	if !got.Loopback {
		return nil, errors.New("a server inside cannot be reached")
	}
	return w.breaches(got), nil
}

func (w Config) breaches(got outcome) []breach {
	var all []breach
	own := w.Level != External
	if got.Beyond != "" {
		all = append(all, breach{"a connection to " + got.Beyond, true})
	}
	if got.Server {
		all = append(all, breach{"a connection to a server of this machine", own})
	}
	if got.File {
		all = append(all, breach{"a file outside of its folders", own})
	}
	if got.Process {
		all = append(all, breach{"a signal to ralph", own})
	}
	return all
}

func (w Config) createOutside(name string) (string, error) {
	theirs := slices.Concat(w.Write, w.Read, []string{sharedMemory})
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp", "/home", "/srv"} {
		if slices.ContainsFunc(theirs, func(other string) bool { return process.Under(other, dir) }) {
			continue
		}
		if made, err := os.MkdirTemp(dir, name); err == nil {
			return made, nil
		}
	}
	return "", errors.New("no folder but theirs can be written to")
}

// tryInside repeats attempts that hang, which happened once in hundreds of runs.
func (w Config) tryInside(ctx context.Context, exec Exec, asked attempts) (outcome, error) {
	var got outcome
	var err error
	for range 2 {
		err = w.playInside(ctx, exec, check, asked, &got)
		if !errors.Is(err, errCheckTimeout) || ctx.Err() != nil {
			return got, err
		}
	}
	return got, err
}

// playInside has this program play a role inside. It is passed as a descriptor: its folder may be missing there.
func (w Config) playInside(ctx context.Context, exec Exec, role string, asked, got any) error {
	self, err := os.Open(selfExe)
	if err != nil {
		return err
	}
	defer func() { _ = self.Close() }()
	orders, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	const lent = "/proc/self/fd/3"
	w.Read = slices.Concat(w.Read, []string{lent})
	res, err := w.Run(exec)(ctx, process.Command{
		Argv:    []string{lent, Hidden, role},
		Dir:     "/",
		Files:   []*os.File{self},
		Stdin:   bytes.NewReader(orders),
		Stdout:  &stdout,
		Stderr:  &stderr,
		Timeout: checkTimeout,
	})
	switch {
	case err != nil:
		return err
	case res.TimedOut:
		return errCheckTimeout
	case res.Exit != 0:
		return fmt.Errorf("exit %d: %.400s", res.Exit, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), got); err != nil {
		return fmt.Errorf("read what it found: %w: %.400s", err, stderr.String())
	}
	return nil
}

// attempt is what the program inside does.
func attempt(in io.Reader, out io.Writer) error {
	var asked attempts
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return err
	}
	got := outcome{Loopback: connectsToSelf()}
	if file, err := os.Open(asked.File); err == nil {
		_ = file.Close()
		got.File = true
	}
	got.Server = connects(asked.Server, connectTimeout)
	first := slices.IndexFunc(asked.Beyond, func(address string) bool { return connects(address, connectTimeout) })
	if first >= 0 {
		got.Beyond = asked.Beyond[first]
	}
	// In another namespace the number is that of another process.
	if numbers, err := os.Readlink(processes); err != nil || numbers == asked.Numbers {
		// SIGWINCH ends nothing. 0 is no signal to the filter.
		got.Process = syscall.Kill(asked.Process, syscall.SIGWINCH) == nil
	}
	return json.NewEncoder(out).Encode(got)
}

func connects(address string, timeout time.Duration) bool {
	to := net.Dialer{Timeout: timeout}
	c, err := to.DialContext(context.Background(), "tcp", address)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func connectsToSelf() bool {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return false
	}
	defer func() { _ = l.Close() }()
	return connects(l.Addr().String(), checkTimeout)
}
