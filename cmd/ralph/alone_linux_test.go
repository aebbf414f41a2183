package main_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// alone says to a test that it runs in a network without a way out.
const alone = "RALPH_TEST_ALONE"

// yonder is the address at which another machine has the name of GitHub.
const yonder = "192.0.2.7"

// TestBehindAnotherSandbox runs the stories of testdata/alone in a network namespace
// that has no route, which stands for a NetworkPolicy. Only root can make it so
// that GitHub has a name there.
func TestBehindAnotherSandbox(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestAlone$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestAlone does nothing outside that network.
func TestAlone(t *testing.T) {
	if os.Getenv(alone) == "" {
		return
	}
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost\n"+yonder+" "+companyHost+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount(hosts, "/etc/hosts", "", unix.MS_BIND, ""), link("lo", nil, true),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	params := stories(t, "testdata/alone")
	params.Cmds["machine"] = (&machine{}).command
	testscript.Run(t, params)
}

// link has a network interface up or down, with that address.
func link(name string, ip net.IP, up bool) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	request, err := unix.NewIfreq(name)
	if err == nil && up && ip != nil {
		if err = request.SetInet4Addr(ip.To4()); err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCSIFADDR, request)
		}
	}
	if err != nil || up && ip != nil {
		return err
	}
	request.SetUint16(0)
	if up {
		request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	}
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// machine is another, that can be reached or not, and counts who came: "machine
// up [ADDRESS]", "machine down", "machine N".
type machine struct{ came atomic.Int32 }

func (m *machine) command(ts *testscript.TestScript, neg bool, args []string) {
	const name = "lo:1"
	at := yonder
	switch {
	case !neg && len(args) == 2 && args[0] == "up":
		at = args[1]
	case neg || len(args) != 1:
		ts.Fatalf("usage: machine up [ADDRESS]|down|N")
	}
	switch args[0] {
	case "up":
		ts.Check(link(name, net.ParseIP(at), true))
		l, err := net.Listen("tcp", at+":443")
		ts.Check(err)
		ts.Defer(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				m.came.Add(1)
				_ = conn.Close()
			}
		}()
	case "down":
		ts.Check(link(name, nil, false))
	default:
		if came := strconv.Itoa(int(m.came.Load())); came != args[0] {
			ts.Fatalf("%s came", came)
		}
	}
}
