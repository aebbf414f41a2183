package sandbox

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// openNetwork makes loopback work in a new network namespace, and passes out
// listeners at the ports of our proxies.
func (p *launch) openNetwork() error {
	if p.Level != Namespace || p.off(network) {
		return nil
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	for _, port := range p.Ports {
		if err := p.passOut(port); err != nil {
			return fmt.Errorf("reach the proxy at port %d: %w", port, err)
		}
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("set loopback up: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("set loopback up: %w", err)
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("set loopback up: %w", err)
	}
	return nil
}

func (p *launch) passOut(port int) error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) { sent = p.wire.send(word{Port: port}, int(fd)) })
	if err != nil {
		return err
	}
	return sent
}
