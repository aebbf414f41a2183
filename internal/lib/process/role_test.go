package process_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// roleKey makes this test binary play a program that a test starts.
const roleKey = "PROCESS_TEST_ROLE"

// quickExit spares programs built with -race the second that they wait at exit.
const quickExit = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv(roleKey)]
	if !ok {
		role, ok = rolesHere[os.Getenv(roleKey)]
	}
	if !ok {
		os.Exit(m.Run())
	}
	role(os.Args[1:])
	os.Exit(0)
}

var roles = map[string]func(args []string){
	"exit":    func(a []string) { os.Exit(atoi(a[0])) },
	"env":     playEnv,
	"signal":  func(a []string) { _ = syscall.Kill(os.Getpid(), syscall.Signal(atoi(a[0]))); forever() },
	"sleeper": playSleeper,
	"middle":  func(a []string) { begin(a[0], true, os.NewFile(3, "ready"), nil); os.Exit(0) },
	"leave":   playLeave,
	"flood":   playFlood,
	"cat":     func([]string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"pid":     playPID,
	"stay":    func([]string) { forever() },
}

// playing returns a Command that plays a role.
func playing(role string, args ...string) process.Command {
	return process.Command{
		Argv: append([]string{os.Args[0]}, args...),
		Env:  []string{roleKey + "=" + role, quickExit},
	}
}

func playEnv([]string) {
	for _, kv := range os.Environ() {
		fmt.Println(kv)
	}
}

// playPID says "left PID" of itself and ends when its input does.
func playPID([]string) {
	fmt.Printf("left %d\n", os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// playSleeper says on descriptor 3 that it is up, and stays: "stubborn" even
// when it is asked to end; of another kind it makes a file of that name then.
func playSleeper(args []string) {
	asked := make(chan os.Signal, 1)
	switch args[0] {
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "easy":
	default:
		signal.Notify(asked, syscall.SIGTERM)
	}
	ready := os.NewFile(3, "ready")
	_, _ = fmt.Fprintln(ready, os.Getpid())
	_ = ready.Close()
	if args[0] == "easy" || args[0] == "stubborn" {
		forever()
	}
	<-asked
	must(os.WriteFile(args[0], nil, 0o600))
}

// playLeave starts a sleeper, says "left PID" once that is up, and then ends or
// stays: leave HOW end|stay [easy|stubborn|FILE].
func playLeave(args []string) {
	how, then, kind := args[0], args[1], "easy"
	if len(args) > 2 {
		kind = args[2]
	}
	if kind == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	r, w, err := os.Pipe()
	must(err)
	switch how {
	case "plain":
		begin(kind, false, w, nil)
	case "hold":
		begin(kind, false, w, os.Stdout)
	case "setsid":
		begin(kind, true, w, nil)
	case "daemon":
		beginDaemon(kind, w)
	}
	_ = w.Close()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	must(err)
	fmt.Printf("left %s\n", bytes.TrimSpace(line))
	if then == "stay" {
		forever()
	}
}

func begin(kind string, session bool, ready, out *os.File) {
	c := exec.CommandContext(context.Background(), os.Args[0], kind)
	c.Env = append(os.Environ(), roleKey+"=sleeper")
	c.ExtraFiles = []*os.File{ready}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if out != nil {
		c.Stdout = out
	}
	must(c.Start())
}

func beginDaemon(kind string, ready *os.File) {
	c := exec.CommandContext(context.Background(), os.Args[0], kind)
	c.Env = append(os.Environ(), roleKey+"=middle")
	c.ExtraFiles = []*os.File{ready}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	must(c.Run())
}

// playFlood writes N MiB in lines of 1 KiB, and then ends or stays.
func playFlood(args []string) {
	block := append(bytes.Repeat([]byte{'x'}, 1023), '\n')
	w := bufio.NewWriter(os.Stdout)
	for range atoi(args[0]) * 1024 {
		_, _ = w.Write(block)
	}
	_ = w.Flush()
	if len(args) > 1 {
		forever()
	}
}

func forever() {
	for {
		<-time.After(time.Hour)
	}
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
