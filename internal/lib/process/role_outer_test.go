package process_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// playOuter is a small ralph: outer exit N, outer kill N, outer late, outer agent.
func playOuter(args []string) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if process.IsInner(os.Getenv) {
		if args[0] == "late" {
			fmt.Println("coming up")
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		}
		signal.Notify(signals, process.ForwardedSignal, process.OrphanedSignal)
		process.SignalReady(os.Getenv)
		playInner(args, signals)
		return
	}
	code, err := process.RunOuter(process.OuterProgram{
		Argv: os.Args, Env: os.Environ(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Signals: told(signals),
	})
	must(err)
	os.Exit(code)
}

// told says of each signal that the outer has taken it.
func told(signals <-chan os.Signal) <-chan os.Signal {
	taken := make(chan os.Signal)
	go func() {
		for sig := range signals {
			taken <- sig
			fmt.Fprintln(os.Stderr, "taken")
		}
	}()
	return taken
}

func playInner(args []string, signals <-chan os.Signal) {
	switch args[0] {
	case "exit":
		os.Exit(atoi(args[1]))
	case "kill":
		signal.Reset()
		_ = syscall.Kill(os.Getpid(), syscall.Signal(atoi(args[1])))
		forever()
	case "late":
		fmt.Println("heard", <-signals)
	case "agent":
		playAgent(signals)
	}
}

// playAgent runs a stubborn program that leaves a stubborn daemon, and tells how
// it counts what it is sent.
func playAgent(signals <-chan os.Signal) {
	fmt.Printf("inner %d\n", os.Getpid())
	hard := make(chan struct{})
	count := process.NewSignals(os.Getenv)
	go func() {
		for sig := range signals {
			first, now := count.Count(sig)
			fmt.Printf("seen first=%v hard=%v\n", first, now)
			if now {
				close(hard)
				return
			}
		}
	}()
	c := playing("leave", "daemon", "stay", "stubborn")
	c.Stdout = os.Stdout
	_, err := (&process.Runner{Hard: hard}).Run(context.Background(), c)
	fmt.Println("agent:", err)
	os.Exit(3)
}
