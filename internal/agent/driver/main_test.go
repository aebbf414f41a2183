package driver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/scripted"
)

// TestMain lets this binary be the agent too.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "scripted-agent" {
		os.Exit(playScript(os.Args[2]))
	}
	if len(os.Args) > 2 && os.Args[1] == "child" {
		os.Exit(children[os.Args[2]]())
	}
	os.Exit(m.Run())
}

// playScript does what the program's hidden command does.
func playScript(path string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	script, err := os.ReadFile(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	iteration, _ := strconv.Atoi(os.Getenv("RALPH_ITERATION"))
	runner := process.Runner{Now: time.Now}
	code, err := scripted.Play(ctx, scripted.Stage{
		Name: filepath.Base(path), Script: script, Iteration: iteration, Story: os.Getenv("RALPH_STORY"),
		Dir: ".", Prompt: os.Stdin, Out: os.Stdout, Run: runner.Run, Env: os.Environ(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return code
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

// stand is an agent with a real process behind it, and what it saw and kept.
type stand struct {
	driver.Agent
	items []stream.Item
	kept  map[string]*closer
}

type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

func newStand(t *testing.T, name string, o agent.Options) *stand {
	t.Helper()
	adapter, err := agent.Pick(name, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{kept: map[string]*closer{}}
	runner := process.Runner{Now: time.Now}
	s.Agent = driver.Agent{
		Adapter: adapter,
		Run:     runner.Run,
		Dir:     t.TempDir(),
		Env:     []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"},
		Watch:   func(item stream.Item) { s.items = append(s.items, item) },
		Grace:   time.Minute,
		Open: func(name string) (io.WriteCloser, error) {
			s.kept[name] = &closer{}
			return s.kept[name], nil
		},
	}
	return s
}

// self is this binary as an agent command.
func self(t *testing.T, child string) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "'" + path + "' child " + child
}

// script is a line an Item: what a test of a stream wants to read.
func script(items []stream.Item) string {
	var out strings.Builder
	for _, item := range items {
		text := strings.NewReplacer(" Denied: Until:0001-01-01 00:00:00 +0000 UTC", "", " Denied: ", " ", " Until:0001-01-01 00:00:00 +0000 UTC", "", " After:0s", "", " Busy:false", "", " Most:0}", "}").Replace(fmt.Sprintf("%+v", item))
		fmt.Fprintf(&out, "%s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", item), "stream."), text)
	}
	return out.String()
}
