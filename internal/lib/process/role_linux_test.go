package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// rolesHere are those that only Linux has.
var rolesHere = map[string]func(args []string){
	"keep":      playKeep,
	"pipe":      playPipe,
	"lend":      func([]string) { must(unix.Sendmsg(3, []byte{0}, unix.UnixRights(1), nil, 0)) },
	"neighbour": playNeighbour,
	"beside":    playBeside,
	"blind":     playBlind,
	"holder":    playHolder,
	"relay":     playRelay,
}

// playKeep becomes a shell that tells which of 3, 4 and 5 it has, after what is
// from 5 on was kept.
func playKeep(args []string) {
	for fd := uintptr(3); fd <= 5; fd++ {
		_, err := unix.FcntlInt(fd, unix.F_SETFD, 0)
		must(err)
	}
	switch args[0] {
	case "from":
		must(process.CloseOnExecFrom(5))
	case "each":
		must(process.KeepEach(5))
	}
	const tell = `for n in 3 4 5; do if [ -e /proc/self/fd/$n ]; then printf $n; fi; done`
	must(syscall.Exec("/bin/sh", []string{"sh", "-c", tell}, nil))
}

// playPipe tells how much its output holds.
func playPipe([]string) {
	size, err := unix.FcntlInt(1, unix.F_GETPIPE_SZ, 0)
	must(err)
	fmt.Println(size)
}

// playNeighbour has a program run beside a sleeper that is none of its own, and
// tells whether the sleeper is there afterwards.
func playNeighbour([]string) {
	r, w, err := os.Pipe()
	must(err)
	begin("easy", true, w, nil)
	_ = w.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	must(err)
	c := exec.CommandContext(context.Background(), os.Args[0])
	c.Env = []string{roleKey + "=beside", quickExit}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	must(c.Run())
	var pid int
	_, err = fmt.Sscan(line, &pid)
	must(err)
	state, found := statOf(pid)
	fmt.Println("the sleeper is there:", found && !state.Dead)
}

// playHolder runs a stubborn program that says its pid on our own output.
func playHolder([]string) {
	c := playing("sleeper", "stubborn")
	c.Files = []*os.File{os.Stdout}
	_, err := new(process.Runner).Run(context.Background(), c)
	must(err)
}

// playBeside runs a program that leaves another.
func playBeside([]string) {
	res, err := new(process.Runner).Run(context.Background(), playing("leave", "daemon", "end"))
	fmt.Println("swept", res.Swept, err)
}

// playBlind runs a program that leaves another, and can read nothing of it until the program is reaped.
func playBlind([]string) {
	var all unix.Rlimit
	must(unix.Getrlimit(unix.RLIMIT_NOFILE, &all))
	c := playing("leave", "daemon", "end")
	c.Stdout, c.Grace = os.Stdout, time.Nanosecond
	c.Linger = func() (limit, interval time.Duration) {
		one, err := unix.Dup(0)
		must(err)
		must(unix.Close(one))
		must(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(one) + 1, Max: all.Max})) // enough to list /proc
		go func() {
			for ended := (unix.Siginfo{Signo: 1}); ended.Signo != 0; {
				ended.Signo = 0
				must(unix.Waitid(unix.P_ALL, 0, &ended, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil))
			}
			must(unix.Setrlimit(unix.RLIMIT_NOFILE, &all))
		}()
		return 0, time.Millisecond
	}
	res, err := new(process.Runner).Run(context.Background(), c)
	fmt.Println("swept", res.Swept, err)
}

// playRelay leaves many processes, each of which forks and ends, over and over, in a
// session of its own. Each writes to descriptor 3, and stays where that pipe is full:
// the machine is not without room for other processes. Without a reader they all end.
func playRelay(args []string) {
	signal.Ignore(syscall.SIGTERM)
	for range atoi(args[0]) {
		if pid, _, _ := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0); pid == 0 {
			relay()
		}
	}
}

// relay makes system calls only: of a forked Go program one thread is left.
//
//go:norace
//go:nosplit
func relay() {
	for {
		_, _, _ = unix.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
		_, _, errno := unix.RawSyscall(unix.SYS_WRITE, 3, uintptr(unsafe.Pointer(&baton)), 1)
		pid, _, _ := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if pid != 0 || errno == unix.EPIPE {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}

var baton byte
