package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// roles are what this test binary plays as a program.
var roles map[string]func(args []string)

// cast fills roles, some of which go on as others.
func cast() {
	roles = map[string]func(args []string){
		"assault":   playAttack,
		"strongest": playStrongest,
		"verify":    playCheck,
		"weaker":    playWeaker,
		"talk":      playTalk,
		"adopt":     playAdopt,
		"leave":     playLeave,
		"stay":      func(a []string) { playLeave(a); rest() },
		"race":      playRace,
		"kill":      playKill,
		"lonely":    playLonely,
		"hold":      playHold,
		"stubborn":  playStubborn,
		"litter":    playLitter,
		"strike":    playStrike,
		"sweep":     playSweep,
	}
}

// order is a sandbox for a role to stand in.
type order struct {
	Sandbox sandbox.Config
	Without []string
	ABI     int
	Daemon  string
}

func (o order) confinement() sandbox.Config {
	return sandbox.Pretend(sandbox.Without(o.Sandbox, o.Without...), o.ABI)
}

func playAttack(args []string) {
	var o order
	try(json.Unmarshal([]byte(args[0]), &o))
	list, err := o.confinement().Attack(context.Background(), new(process.Runner).Run, o.Daemon)
	try(err)
	try(json.NewEncoder(os.Stdout).Encode(list))
}

// found is the strongest level of a machine, and why there is none.
type found struct {
	Sandbox sandbox.Config
	Error   string
}

func playStrongest(args []string) {
	var o order
	try(json.Unmarshal([]byte(args[0]), &o))
	sb, _, err := o.confinement().Strongest(context.Background(), new(process.Runner).Run)
	said := found{Sandbox: sb}
	if err != nil {
		said.Error = err.Error()
	}
	try(json.NewEncoder(os.Stdout).Encode(said))
}

// playCheck says what the check of a sandbox finds.
func playCheck(args []string) {
	var o order
	try(json.Unmarshal([]byte(args[0]), &o))
	said := ""
	if _, err := o.confinement().Check(context.Background(), new(process.Runner).Run); err != nil {
		said = err.Error()
	}
	try(json.NewEncoder(os.Stdout).Encode(said))
}

// playWeaker goes on as another role on a machine that offers less: "docker",
// root with what a stock container leaves it; "closed", an ordinary user who
// gets no user namespaces; "masked", one who sees a part of /proc alone.
func playWeaker(args []string) {
	runtime.LockOSThread() // what is dropped is the thread's, and exec keeps that of its caller
	switch args[0] {
	case "closed":
		try(os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0))
		try(unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	case "masked":
		try(unix.Mount("ralph", "/proc/sys", "tmpfs", unix.MS_RDONLY, ""))
		try(unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	case "docker":
		left := map[uintptr]bool{}
		for _, c := range []uintptr{
			unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FSETID, unix.CAP_FOWNER, unix.CAP_MKNOD, unix.CAP_NET_RAW, unix.CAP_SETGID,
			unix.CAP_SETUID, unix.CAP_SETFCAP, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_CHROOT, unix.CAP_KILL, unix.CAP_AUDIT_WRITE,
		} {
			left[c] = true
		}
		for c := range uintptr(unix.CAP_LAST_CAP + 1) {
			if !left[c] {
				_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
			}
		}
	}
	try(syscall.Exec("/proc/self/exe", append([]string{os.Args[0], sandbox.Hidden}, args[1:]...), os.Environ()))
}

// playLonely goes on as another role, in a network whose loopback works.
func playLonely(args []string) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	try(err)
	req, err := unix.NewIfreq("lo")
	try(err)
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	try(unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req))
	roles[args[0]](args[1:])
}

// playTalk says its parent's pid, and then for each address that it reads
// whether it could connect.
func playTalk([]string) {
	fmt.Println(os.Getppid())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		network, addr := "tcp", in.Text()
		if addr[0] == '/' {
			network = "unix"
		}
		c, err := net.Dial(network, addr)
		if err != nil {
			fmt.Println("refused")
			continue
		}
		_, _ = c.Write([]byte("hello"))
		_ = c.(interface{ CloseWrite() error }).CloseWrite()
		answer, _ := bufio.NewReader(c).ReadString('\n')
		_ = c.Close()
		fmt.Println("connected", strings.TrimSpace(answer))
	}
}

// playAdopt listens on a socket that it was lent, and says whether it reaches it: adopt ADDR.
func playAdopt(args []string) {
	try(unix.Listen(4, 1))
	_, err := net.Dial("tcp", args[0])
	fmt.Println("reached:", err == nil)
}

// playLeave starts one that leaves its session and its parents, and ends when that
// is up: leave outer BADGE.
func playLeave(args []string) {
	if args[0] == "middle" {
		c := exec.Command("/proc/self/exe", sandbox.Hidden, "stubborn", args[1])
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := c.StdoutPipe()
		try(err)
		try(c.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		try(err)
		fmt.Print(line)
		return
	}
	c := exec.Command("/proc/self/exe", sandbox.Hidden, "leave", "middle", args[1])
	c.Env = []string{"SCRUBBED=1"}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := c.Output()
	try(err)
	fmt.Print(string(out))
}

// playHold is a ralph with a program in a sandbox: hold ORDER ROLE….
func playHold(args []string) {
	var o order
	try(json.Unmarshal([]byte(args[0]), &o))
	self, err := os.Open("/proc/self/exe")
	try(err)
	o.Sandbox.Read = []string{"/proc/self/fd/3"}
	_, err = o.confinement().Run(new(process.Runner).Run)(context.Background(), process.Command{
		Argv: append([]string{"/proc/self/fd/3", sandbox.Hidden}, args[1:]...), Files: []*os.File{self}, Stdout: os.Stdout,
	})
	try(err)
}

func playStubborn([]string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("up")
	rest()
}

// rest is until somebody else makes an end. Without cgo Go ends a program in
// which everybody waits for ever.
func rest() {
	for {
		time.Sleep(time.Hour)
	}
}

// playKill signals its parent and says how that ended.
func playKill(args []string) {
	fmt.Println(syscall.Kill(os.Getppid(), syscall.Signal(number(args[0]))))
	playTalk(nil)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	try(err)
	return n
}

func try(err error) {
	if err != nil {
		panic(err)
	}
}
