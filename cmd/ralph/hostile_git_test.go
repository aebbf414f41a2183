package main_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// lair is where a vector is laid, and where it is heard of if it goes off.
type lair struct {
	dir    string
	canary string
	sink   *httptest.Server
	asked  atomic.Int32 // how many came to the sink
}

func newLair(t *testing.T) *lair {
	t.Helper()
	dir := t.TempDir()
	l := &lair{dir: dir, canary: filepath.Join(dir, "canary")}
	for _, folder := range []string{l.canary, filepath.Join(dir, "at")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.sink = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		l.asked.Add(1)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(l.sink.Close)
	return l
}

// words puts in what the vectors speak of.
func (l *lair) words(t *testing.T, text, remote string) string {
	t.Helper()
	evil := filepath.Join(l.dir, "evil")
	program := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s/ran\nexit 1\n", l.canary)
	if err := os.WriteFile(evil, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("EVIL", evil, "CANARY", l.canary, "SINK", l.sink.URL, "REMOTE", remote, "AT", filepath.Join(l.dir, "at")).Replace(text)
}

// heard returns what happened: what ran, what was written, who asked.
func (l *lair) heard(t *testing.T) []string {
	t.Helper()
	var found []string
	there, err := os.ReadDir(l.canary)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range there {
		text, _ := os.ReadFile(filepath.Join(l.canary, entry.Name()))
		found = append(found, entry.Name()+": "+string(text))
	}
	if n := l.asked.Load(); n > 0 {
		found = append(found, fmt.Sprintf("%d came to the sink", n))
	}
	return found
}

// Every vector goes off where git is used without care: else it would prove
// nothing that it does not go off in a run.
func TestTheVectorsOfATreeGoOff(t *testing.T) {
	t.Parallel()
	for _, v := range gitVectors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			l, dir := newLair(t), filepath.Join(t.TempDir(), "tree")
			remote := "http://" + nobodyAt(t) + "/octo/greeter.git"
			begin := `git init -q -b main up; cd up; echo 1 >README.md; git add .; git commit -qm one; cd ..; git clone -q --shared up tree; cd tree; `
			shell(t, filepath.Dir(dir), begin+l.words(t, v.plant, remote))
			if before := l.heard(t); len(before) > 0 {
				t.Fatalf("it went off as it was laid: %q", before)
			}
			shell(t, dir, l.words(t, "AUTH='Authorization: Basic x'; "+v.fire, remote))
			if len(l.heard(t)) == 0 {
				t.Error("plain git does not set it off")
			}
		})
	}
}

// shell has somebody work with git. How it ends says nothing.
func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = dir, append(gitEnv(), "GIT_ALLOW_PROTOCOL=file:git:http:ssh:ext", "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	t.Logf("%v: %s", err, out)
}

// nobodyAt returns an address without a listener.
func nobodyAt(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// inRuns returns the vectors of each run: with ATTACK every one has its own, else
// those share one that can.
func inRuns() []vector {
	if os.Getenv("ATTACK") != "" {
		return gitVectors
	}
	all, apart := vector{name: "all together"}, []vector{}
	for _, v := range gitVectors {
		if v.alone {
			apart = append(apart, v)
			continue
		}
		all.plant += v.plant + "\n"
	}
	return append(apart, all)
}

// A whole job, in which the agent leaves a vector in its tree's repository: it
// sets nothing off, and the token goes to GitHub alone. There is no sandbox,
// which would hide that something ran.
func TestTheVectorsOfATreeDoNotGoOffInARun(t *testing.T) {
	t.Parallel()
	for _, v := range inRuns() {
		if !short.Has(v.name) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			l := newLair(t)
			s := newScene(t, func(s *scene) { s.hostile(l, v.plant) })
			if code := s.end(s.begin("SET_limits.maxIterations=2")); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			if looked := s.count(journal.Type(journal.CommitsTaken{})); looked == 0 {
				t.Error("the run never looked at what the agent left")
			}
			if heard := l.heard(t); len(heard) > 0 {
				t.Errorf("it went off: %q", heard)
			}
		})
	}
}

// hostile has the agent of the first iteration do its work, and a workflow
// besides that has to be put back, and then leave the vector.
func (s *scene) hostile(l *lair, plant string) {
	s.t.Helper()
	script := "hostile\n" + firstPart + "-- 1/run --\n" + l.words(s.t, plant, s.URL+"/"+shop+".git") + "\n-- 2/say --\nnothing\n"
	if err := write(s.path("script.txtar"), []byte(script)); err != nil {
		s.t.Fatal(err)
	}
}

const firstPart = `-- 1/write/greet.sh --
echo "Hello${1:+, }$1!"
-- 1/write/tests/name.sh --
[ "$(sh greet.sh Ada)" = "Hello, Ada!" ]
-- 1/write/.github/workflows/ci.yml --
on: push
-- 1/claim --
US-001: done
-- 1/commit --
feat: [US-001] - greet by name
-- 1/write/README.md --
left as it is
`

func (s *scene) count(kind string) int {
	s.t.Helper()
	n := 0
	for _, entry := range s.entries() {
		if journal.Type(entry.Event) == kind {
			n++
		}
	}
	return n
}
