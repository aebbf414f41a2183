package agent_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/stream"
)

var update = flag.Bool("update", false, "rewrite the goldens")

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
}

var order = agent.Order{Iteration: 3, Max: 10, Story: "US-001", Prompt: "do it\n"}

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

// self is this binary as an agent command that prints its environment.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "'" + path + "' child env"
}

// golden compares got with a file, or makes it the file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// script is a line an Item: what a test of a stream wants to read.
func script(items []stream.Item) string {
	var out strings.Builder
	for _, item := range items {
		text := strings.NewReplacer(" Denied: Until:0001-01-01 00:00:00 +0000 UTC", "", " Denied: ", " ", " Until:0001-01-01 00:00:00 +0000 UTC", "", " After:0s", "", " Busy:false", "", " Most:0 Boundless:false}", "}").Replace(fmt.Sprintf("%+v", item))
		fmt.Fprintf(&out, "%s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", item), "stream."), text)
	}
	return out.String()
}
