package sandbox_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// connected returns the levels at which those inside have a network worth the name.
func connected() []sandbox.Level { return here(sandbox.Namespace, sandbox.Notify) }

// talker is a program inside that connects where it is told to.
type talker struct {
	t    *testing.T
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan struct{}
	res  process.Result
	err  error
}

func talk(t *testing.T, w sandbox.Config, args ...string) *talker {
	t.Helper()
	c := playing(t, &w, args...)
	c.Dir = w.Write[0]
	k := &talker{t: t, done: make(chan struct{})}
	in, to := io.Pipe()
	from, out := io.Pipe()
	k.in, k.out = to, bufio.NewScanner(from)
	c.Stdin, c.Stdout, c.Stderr = in, out, out
	go func() {
		defer close(k.done)
		k.res, k.err = w.Run(new(process.Runner).Run)(t.Context(), c)
		_ = out.Close()
	}()
	t.Cleanup(func() { k.end() })
	return k
}

func (k *talker) line() string {
	k.t.Helper()
	if !k.out.Scan() {
		<-k.done
		k.t.Fatalf("it ended: %+v, %v", k.res, k.err)
	}
	return k.out.Text()
}

func (k *talker) to(addr string) string {
	k.t.Helper()
	must.Get(fmt.Fprintln(k.in, addr))(k.t)
	return k.line()
}

func (k *talker) end() {
	_ = k.in.Close()
	for k.out.Scan() {
	}
	<-k.done
}

// answering returns a listener that answers each who comes with its name.
func answering(t *testing.T, network, addr, name string) net.Listener {
	t.Helper()
	l := must.Get(net.Listen(network, addr))(t)
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, c)
			_, _ = io.WriteString(c, name+"\n")
			_ = c.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); busy.Wait() })
	return l
}

// A listener outside stays out of reach if one inside calls listen on a socket of its number. Numbers come again
// after a wrap, which takes too long for a test: here it is the same socket.
func TestAListenerOutsideIsNotOwn(t *testing.T) {
	outside := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = outside.Close() })
	socket := must.Get(outside.(*net.TCPListener).File())(t)
	t.Cleanup(func() { _ = socket.Close() })
	for _, level := range here(sandbox.Notify) {
		w := testConfig(t, level, users()[0])
		c := playing(t, &w, "adopt", outside.Addr().String())
		c.Files = append(c.Files, socket)
		if out, _ := inside(t, w, c); out != "reached: false\n" {
			t.Errorf("%s: %s", level, out)
		}
	}
}

// A server that a port leads to is reached at that port of 127.0.0.1, wherever it is, and
// nothing else of its machine.
func TestPortsLeadToOtherMachines(t *testing.T) {
	here := answering(t, "tcp4", "127.0.0.1:0", "here")
	container := answering(t, "tcp4", "127.0.0.7:0", "container") // as another machine
	other := answering(t, "tcp4", "127.0.0.7:0", "other")
	at := func(host string, l net.Listener) string { return net.JoinHostPort(host, portOf(l)) }
	want := map[string]string{
		at("127.0.0.1", here): "connected here", at("127.0.0.1", container): "connected container", at("localhost", container): "connected container",
		at("127.0.0.7", container): "refused", at("127.0.0.1", other): "refused", at("127.0.0.7", other): "refused",
		at("::ffff:127.0.0.1", here): "connected here", at("::1", here): "refused",
	}
	services := []net.Listener{here, container}
	if six() {
		v6 := answering(t, "tcp6", "[::1]:0", "v6")
		services = append(services, v6)
		want[at("127.0.0.1", v6)], want[at("::1", v6)] = "connected v6", "refused"
	}
	for _, level := range connected() {
		t.Run(string(level), func(t *testing.T) {
			w := testConfig(t, level, users()[0])
			w.Ports = portsOf(services...)
			k := talk(t, w, "talk")
			k.line()
			for addr, want := range want {
				if got := k.to(addr); got != want {
					t.Errorf("to %s: %q, want %q", addr, got, want)
				}
			}
		})
	}
}

// A socket of a folder that is theirs may be used, and none beside it.
func TestLocalSocketsAreThoseOfTheFolder(t *testing.T) {
	for _, level := range connected() {
		w := testConfig(t, level, users()[0])
		ours, shown := folder(t, 0), folder(t, 0)
		w.Read = append(w.Read, shown)
		outside, readable, in := filepath.Join(ours, "s"), filepath.Join(shown, "s"), filepath.Join(w.Write[0], "s")
		answering(t, "unix", outside, "outside")
		answering(t, "unix", readable, "readable")
		answering(t, "unix", in, "inside")
		open(t, outside, readable, in)
		link(t, outside, filepath.Join(w.Write[0], "link"))
		k := talk(t, w, "talk")
		k.line()
		for addr, want := range map[string]string{
			in: "connected inside", outside: "refused", readable: "refused", filepath.Join(w.Write[0], "link"): "refused",
			filepath.Join(w.Write[0], "..", filepath.Base(ours), "s"): "refused", "/proc/self/cwd/s": "refused",
		} {
			if addr == "/proc/self/cwd/s" && level == sandbox.Namespace {
				continue // there it is their own folder
			}
			if got := k.to(addr); got != want {
				t.Errorf("level %s, to %s: %q, want %q", level, addr, got, want)
			}
		}
	}
}

// While the supervisor stands still nothing opens, and those inside die with it.
func TestWithoutTheSupervisorNothingOpens(t *testing.T) {
	proxy, came := counting(t)
	w := testConfig(t, sandbox.Notify, users()[0])
	_, port, _ := net.SplitHostPort(proxy)
	w.Ports = leading(atoi(t, port))
	k := talk(t, w, "talk")
	supervisor := atoi(t, k.line())
	must.Do(t, syscall.Kill(supervisor, syscall.SIGSTOP))
	must.Get(fmt.Fprintln(k.in, proxy))(t)
	must.Do(t, syscall.Kill(supervisor, syscall.SIGKILL))
	k.end()
	if k.res.Signal != "SIGKILL" || came() != 0 {
		t.Errorf("ended by %q, %d connects came; want SIGKILL and none", k.res.Signal, came())
	}
}

// Where Landlock cannot keep them from it, killing it ends them.
func TestKillingTheSupervisorEndsItsKiller(t *testing.T) {
	w := sandbox.Without(testConfig(t, sandbox.Notify, users()[0]), "landlock scopes")
	k := talk(t, w, "kill", "9")
	k.end()
	if k.res.Signal != "SIGKILL" {
		t.Errorf("it went on: %+v, %v", k.res, k.err)
	}
}
