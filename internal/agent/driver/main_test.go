package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
)

// TestMain lets this binary be the agent too.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		os.Exit(children[os.Args[2]]())
	}
	os.Exit(m.Run())
}

// children are programs that a user could name as the agent command.
var children = map[string]func() int{
	"env": func() int {
		fmt.Println(strings.Join(os.Environ(), "\n"))
		return 0
	},
	"prompt": func() int {
		n, err := io.Copy(os.Stdout, os.Stdin)
		fmt.Fprintln(os.Stderr, "warning: read", n, "bytes", err)
		return 0
	},
	"answer": func() int {
		prompt, err := io.ReadAll(os.Stdin)
		fmt.Printf("I was to %s", prompt)
		fmt.Fprintln(os.Stderr, "warning: read", len(prompt), "bytes", err)
		return 0
	},
	"long": func() int {
		os.Stdout.Write(append(bytes.Repeat([]byte("x"), 5<<20), '\n'))
		fmt.Println("<promise>COMPLETE</promise>")
		return 0
	},
	"fails": func() int {
		fmt.Println("I will try")
		fmt.Fprintln(os.Stderr, "Error: model not found\n    at somewhere (file.js:1)")
		return 3
	},
	"advises": func() int {
		fmt.Fprintln(os.Stderr, "ralph: cannot read script.txtar\nralph: hint: name the script's file")
		return 2
	},
	"locked": func() int {
		fmt.Fprintln(os.Stderr, "fatal: Unable to create '.git/index.lock': File exists.\n\nAnother git process seems to be running,\nremove the file manually to continue.")
		return 128
	},
	"refuses": func() int {
		fmt.Fprintln(os.Stderr, "error: unknown option '--verbose'")
		return 1
	},
	"hangs": func() int {
		fmt.Println("thinking")
		<-time.NewTimer(time.Hour).C
		return 0
	},
}

// printing is Claude Code on a stand, as a program that prints no more than some lines.
func printing(t *testing.T, lines string) *agenttest.Stand {
	t.Helper()
	s := agenttest.New(t, "claude", agent.Options{Command: agenttest.Self(t, "env")})
	s.Run = func(_ context.Context, c process.Command) (process.Result, error) {
		_, err := io.WriteString(c.Stdout, lines)
		return process.Result{}, err
	}
	return s
}
