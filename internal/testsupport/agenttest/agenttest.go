// Package agenttest runs an agent's adapter in a test: a driver that records
// what the adapter reports and prints. For tests only.
package agenttest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// Stand is an agent with a real process behind it, and what it saw and kept.
type Stand struct {
	driver.Agent
	Items []stream.Item
	Kept  map[string]*File // by name
}

// File is one that the driver opened.
type File struct{ bytes.Buffer }

// Close does nothing.
func (*File) Close() error { return nil }

// New returns a stand for the agent of that name.
func New(t *testing.T, name string, o agent.Options) *Stand {
	t.Helper()
	adapter, err := agent.Pick(name, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &Stand{Kept: map[string]*File{}}
	runner := process.Runner{Now: time.Now} //nolint:forbidigo // only tests use it
	s.Agent = driver.Agent{
		Adapter: adapter,
		Redact:  redact.Values().Writer,
		Run:     runner.Run,
		Dir:     t.TempDir(),
		Env:     []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, //nolint:forbidigo // likewise
		Watch:   func(item stream.Item) { s.Items = append(s.Items, item) },
		Grace:   time.Minute,
		Now:     time.Now, //nolint:forbidigo // likewise
		Open: func(name string) (io.WriteCloser, error) {
			s.Kept[name] = &File{}
			return s.Kept[name], nil
		},
	}
	return s
}

var usual = strings.NewReplacer(
	" Denied: Until:0001-01-01 00:00:00 +0000 UTC", "", " Denied: ", " ", " Until:0001-01-01 00:00:00 +0000 UTC", "",
	" After:0s", "", " Busy:false", "", " Most:0}", "}")

// Script returns a line for each Item that the stand saw.
func (s *Stand) Script() string {
	var out strings.Builder
	for _, item := range s.Items {
		fmt.Fprintf(&out, "%s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", item), "stream."), usual.Replace(fmt.Sprintf("%+v", item)))
	}
	return out.String()
}

// Self returns the test binary as an agent command; its TestMain runs the child of that name.
func Self(t *testing.T, child string) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "'" + path + "' child " + child
}
