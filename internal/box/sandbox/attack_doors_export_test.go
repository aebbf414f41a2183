//go:build linux

package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// outsideListener is a listener outside that sandboxed programs must not reach.
type outsideListener struct {
	io.Closer

	vector vector
	addr   net.Addr
	stream net.Listener
	packet net.PacketConn
}

// lastVisit is said by our last visitor, after whom none counts. No other program can know it.
var lastVisit = []byte(rand.Text())

func (st *attackSetup) openListeners(ctx context.Context) error {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	listen := func(v vector, network, addr string) error {
		l, err := lc.Listen(ctx, network, addr)
		if err != nil {
			return fmt.Errorf("open a door for %s: %w", v.name, err)
		}
		st.listeners = append(st.listeners, &outsideListener{Closer: l, vector: v, addr: l.Addr(), stream: l})
		st.Dial[v.name] = l.Addr().String()
		return nil
	}
	for _, v := range []vector{toPort, byMPTCP, byFastOpen} {
		if err := listen(v, "tcp4", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	_ = listen(toIPv6, "tcp6", "[::1]:0") // not every machine has it
	if addr, ok := ownAddress(); ok {
		_ = listen(toMachine, "tcp", net.JoinHostPort(addr, "0"))
	}
	for port := range st.sb.Ports { // another host, as far as anybody's filter can tell
		if listen(toProxyPort, "tcp4", net.JoinHostPort("127.0.0.2", strconv.Itoa(port))) == nil {
			break
		}
	}
	return errors.Join(st.openLocalListeners(listen), st.openPacketListeners(ctx))
}

func (st *attackSetup) openLocalListeners(listen func(v vector, network, addr string) error) error {
	st.Socket, st.Abstract = filepath.Join(st.dir, "socket"), "@"+filepath.Base(st.dir)
	return errors.Join(
		listen(toFileSock, "unix", st.Socket), makeWorldWritable(st.Socket),
		listen(toAbstract, "unix", st.Abstract))
}

func (st *attackSetup) openPacketListeners(ctx context.Context) error {
	open := func(v vector, network, addr string) (string, error) {
		c, err := new(net.ListenConfig).ListenPacket(ctx, network, addr)
		if err != nil {
			return "", fmt.Errorf("open a door for %s: %w", v.name, err)
		}
		st.listeners = append(st.listeners, &outsideListener{Closer: c, vector: v, addr: c.LocalAddr(), packet: c})
		return c.LocalAddr().String(), nil
	}
	var err, other error
	st.Datagram, err = open(byUDP, "udp4", "127.0.0.1:0")
	st.DatagramSocket, other = open(toDatagram, "unixgram", filepath.Join(st.dir, "datagrams"))
	return errors.Join(err, other, makeWorldWritable(st.DatagramSocket))
}

const canaryFile = ".ralph-canary-"

// placeCanaries writes a canary into each folder that is apart, and a link to it into theirs.
func (st *attackSetup) placeCanaries() error {
	for _, dir := range st.sb.Apart {
		if slices.ContainsFunc(st.sb.Theirs, func(theirs string) bool { return process.Under(theirs, dir) }) {
			continue // they work there
		}
		file, err := os.CreateTemp(dir, canaryFile)
		if err != nil {
			continue
		}
		st.canaries, st.laid, st.Apart = append(st.canaries, file), append(st.laid, file.Name()), append(st.Apart, file.Name())
		_, err = file.WriteString(st.secret)
		if err := errors.Join(err, file.Chmod(0o644)); err != nil {
			return err
		}
	}
	st.Apart = append(st.Apart, loginSettings(st.sb.Read)...)
	if len(st.sb.Write) == 0 {
		return nil
	}
	st.Link = filepath.Join(st.sb.Write[0], filepath.Base(st.dir))
	st.laid, st.sb.Read = append(st.laid, st.Link), append(slices.Clip(st.sb.Read), st.Link)
	return os.Symlink(st.dir, st.Link)
}

func ownAddress() (string, bool) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return "", false
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String(), true
		}
	}
	return "", false
}

// visitPatience bounds the wait for what visitors say: any program of the machine can come, and stay.
const visitPatience = 20 * time.Second

// visitors counts those who came out, by vector. It ends the listeners.
func (st *attackSetup) visitors(ctx context.Context) map[string]int {
	counts := make([]int, len(st.listeners))
	var all sync.WaitGroup
	for i, d := range st.listeners {
		all.Go(func() { counts[i] = d.count(ctx, st.Word) })
	}
	all.Wait()
	came := map[string]int{}
	for i, n := range counts {
		if n > 0 {
			came[st.listeners[i].vector.name] += n
		}
	}
	return came
}

// count counts those who said word, and ends the listener. If it does not hear our last visitor, somebody may have
// come whom it did not hear either, and it counts one.
func (d *outsideListener) count(ctx context.Context, word string) int {
	ctx, cancel := context.WithTimeout(ctx, visitPatience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = d.Close() })()
	var heard visits
	heard.Go(func() {
		if d.visitLast(ctx) != nil {
			cancel()
		}
	})
	if d.packet != nil {
		heard.readPackets(d.packet, word)
	} else {
		heard.accept(ctx, d.stream, word)
	}
	heard.Wait()
	if !heard.last.Load() {
		return int(heard.count.Load()) + 1
	}
	return int(heard.count.Load())
}

// visitLast says lastVisit. It fails if a client shut the listener.
func (d *outsideListener) visitLast(ctx context.Context) error {
	c, err := new(net.Dialer).DialContext(ctx, d.addr.Network(), d.addr.String())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	until, _ := ctx.Deadline()
	_ = c.SetDeadline(until)
	_, err = c.Write(lastVisit)
	return err
}

// visits are what the visitors of a listener said.
type visits struct {
	sync.WaitGroup

	count atomic.Int32
	last  atomic.Bool
}

func (v *visits) hear(said []byte, word string) {
	switch {
	case bytes.Equal(said, lastVisit):
		v.last.Store(true)
	case bytes.Equal(said, []byte(word)):
		v.count.Add(1)
	}
}

// accept reads side by side: one visitor who stays and says nothing delays no other.
func (v *visits) accept(ctx context.Context, l net.Listener, word string) {
	until, _ := ctx.Deadline()
	for !v.last.Load() {
		in, err := l.Accept()
		if err != nil {
			return
		}
		_ = in.SetReadDeadline(until)
		v.Go(func() {
			said, _ := io.ReadAll(io.LimitReader(in, 64)) // who stays may have said it
			_ = in.Close()
			if v.hear(said, word); v.last.Load() {
				_ = l.Close()
			}
		})
	}
}

func (v *visits) readPackets(c net.PacketConn, word string) {
	buf := make([]byte, 64)
	for !v.last.Load() {
		n, _, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		v.hear(buf[:n], word)
	}
}
