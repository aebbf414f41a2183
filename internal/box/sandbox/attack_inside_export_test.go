//go:build linux

package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func makeWorldWritable(path string) error { return os.Chmod(path, 0o777) }

func attackFromInside(in io.Reader, out io.Writer) error {
	var t targets
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return err
	}
	saw := findings{}
	t.tryNetwork(saw)
	t.tryLocalSockets(saw)
	t.tryOwnAddresses(saw)
	t.tryFiles(saw)
	t.readCanaries(saw)
	t.tryProgram(saw)
	saw.note(atKernel, kernelCalls())
	return json.NewEncoder(out).Encode(saw)
}

type findings map[string]string

func (a findings) note(v vector, got string) {
	if got != "" && a[v.name] == "" {
		a[v.name] = got
	}
}

func (t targets) tryNetwork(saw findings) {
	for name, addr := range t.Dial {
		to, err := netip.ParseAddrPort(addr)
		if err != nil {
			continue
		}
		switch name {
		case byMPTCP.name:
			saw.note(byMPTCP, t.dialOut(to, unix.IPPROTO_MPTCP))
		case byFastOpen.name:
			saw.note(byFastOpen, t.fastOpenOut(to))
		default:
			saw.note(vector{name: name}, t.dialOut(to, 0))
		}
	}
	for _, addr := range t.Beyond {
		if to, err := netip.ParseAddrPort(addr); err == nil && t.dialOut(to, 0) != "" {
			saw.note(toBeyond, addr)
		}
	}
	if to, err := netip.ParseAddrPort(t.Datagram); err == nil {
		saw.note(byUDP, t.sendOut(to))
	}
	saw.note(byOther, otherSockets())
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
	if errno != unix.ENOSYS && errno != unix.EPERM {
		saw.note(byRing, errno.Error())
	}
}

func domainOf(to netip.AddrPort) (int, unix.Sockaddr) {
	if to.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
}

func (t targets) dialOut(to netip.AddrPort, protocol int) string {
	domain, addr := domainOf(to)
	fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }()
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 1})
	return t.greetAt(fd, addr)
}

func (t targets) fastOpenOut(to netip.AddrPort) string {
	domain, addr := domainOf(to)
	for _, send := range []func(fd int) error{
		func(fd int) error { return unix.Sendto(fd, []byte("hello"), unix.MSG_FASTOPEN, addr) },
		func(fd int) error { return unix.Sendmsg(fd, []byte("hello"), nil, addr, unix.MSG_FASTOPEN) },
	} {
		fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return ""
		}
		err = send(fd)
		_ = unix.Close(fd)
		if err == nil {
			return "sent"
		}
	}
	return ""
}

func (t targets) sendOut(to netip.AddrPort) string {
	domain, addr := domainOf(to)
	fd, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Sendto(fd, []byte("hello"), 0, addr); err != nil {
		return ""
	}
	return "sent"
}

// otherSockets are kinds that reach out by ways that no port rule sees.
func otherSockets() string {
	var got []string
	for name, s := range map[string][3]int{
		"SCTP":     {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP},
		"raw":      {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW},
		"ping":     {unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP},
		"packet":   {unix.AF_PACKET, unix.SOCK_RAW, 0},
		"vsock":    {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		"kernel":   {unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		"netlink":  {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG},
		"xdp":      {unix.AF_XDP, unix.SOCK_RAW, 0},
		"MPTCP v6": {unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP},
	} {
		fd, err := unix.Socket(s[0], s[1]|unix.SOCK_CLOEXEC, s[2])
		if err == nil {
			_ = unix.Close(fd)
			got = append(got, name)
		}
	}
	return strings.Join(got, " ")
}

// daemonSockets would do as they are asked, as root or as the user.
func daemonSockets(uid int) []string {
	all := []string{
		"/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/crio/crio.sock",
		"/run/dbus/system_bus_socket", "/run/systemd/private", "/run/snapd.socket", "/run/buildkit/buildkitd.sock",
	}
	for _, of := range []string{"bus", "docker.sock", "podman/podman.sock", "systemd/private", "gnupg/S.gpg-agent"} {
		all = append(all, "/run/user/"+strconv.Itoa(uid)+"/"+of)
	}
	return all
}

func (t targets) tryLocalSockets(saw findings) {
	saw.note(toFileSock, t.dialLocal(t.Socket, unix.SOCK_STREAM))
	saw.note(toAbstract, t.dialLocal(t.Abstract, unix.SOCK_STREAM))
	saw.note(toDatagram, t.dialLocal(t.DatagramSocket, unix.SOCK_DGRAM))
	saw.note(toDatagram, t.dialLocal(t.DatagramSocket, unix.SOCK_RAW))
	for _, path := range t.Daemons {
		if t.dialLocal(path, unix.SOCK_STREAM) != "" {
			saw.note(toDaemons, path)
		}
	}
}

func (t targets) dialLocal(path string, kind int) string {
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }()
	if kind != unix.SOCK_STREAM {
		if err := unix.Sendto(fd, []byte("hello"), 0, &unix.SockaddrUnix{Name: path}); err != nil {
			return ""
		}
		return "sent"
	}
	return t.greetAt(fd, &unix.SockaddrUnix{Name: path})
}

// greetAt speaks even after an error: a connect that a signal interrupted goes on.
func (t targets) greetAt(fd int, addr unix.Sockaddr) string {
	err := unix.Connect(fd, addr)
	if _, mute := unix.Write(fd, []byte("hello")); err != nil && mute != nil {
		return ""
	}
	return "connected"
}

func (t targets) tryOwnAddresses(saw findings) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return
	}
	value := map[string]string{}
	for line := range strings.Lines(string(status)) {
		if name, v, ok := strings.Cut(line, ":"); ok {
			value[name] = strings.TrimSpace(v)
		}
	}
	if !t.SameUser && (os.Getuid() == t.Outer || value["Groups"] != "") {
		saw.note(atUser, fmt.Sprintf("uid %d, groups %q", os.Getuid(), value["Groups"]))
	}
	for _, set := range []string{"CapEff", "CapPrm", "CapInh", "CapAmb"} {
		if strings.Trim(value[set], "0") != "" {
			saw.note(atCaps, set+" "+value[set])
		}
	}
	if value["NoNewPrivs"] != "1" {
		saw.note(atGains, "exec may gain privileges")
	}
}

func (t targets) tryFiles(saw findings) {
	if text, err := os.ReadFile(t.Secret); err == nil {
		saw.note(atFile, string(text))
	}
	if err := os.WriteFile(filepath.Join(t.Folder, writtenInside), nil, 0o600); err == nil {
		saw.note(atFolder, "written")
	}
}

func (t targets) isCanaryIn(text []byte) bool { return bytes.Contains(text, []byte(t.Canary)) }

// tryProgram tries other processes, the victim first.
func (t targets) tryProgram(saw findings) {
	own := strconv.Itoa(os.Getpid())
	list, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range list {
		if filepath.Base(dir) == own {
			continue
		}
		if text, err := os.ReadFile(dir + "/environ"); err == nil && t.isCanaryIn(text) {
			saw.note(atMemory, "its environment")
		}
	}
	victim := "/proc/" + strconv.Itoa(t.Victim)
	if f, err := os.Open(victim + "/mem"); err == nil {
		_ = f.Close()
		saw.note(atMemory, "its memory")
	}
	if to, err := os.Readlink(victim + "/fd/0"); err == nil {
		saw.note(atMemory, "its files: "+to)
	}
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(t.Victim), 0, 0, 0, 0); errno == 0 {
		saw.note(atTracing, "it let itself be traced")
	}
	if unix.Kill(t.Victim, unix.SIGKILL) == nil {
		saw.note(atSignals, "delivered")
	}
}
