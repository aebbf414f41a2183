package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// deathKey tells a ralph that a test started when it has to die.
const deathKey = "RALPH_TEST_DEATH"

// death is a kill -9 at a line of the journal, in any process. It
// strikes when the program looks at its clock, which it does before each
// program it starts and before each event it writes: early is the first look
// once the line is there, late the one for the event after it, when all that
// this event tells of has happened.
type death struct {
	Event string // its type
	Nth   int    // of the events of that type; with no type: of all events of this life
	Late  bool

	runs string // the folder of the runs
	born int    // events there were when this life began
	done bool

	size int64 // of the journals when they were read last
	seen []string
}

func (d death) String() string {
	name := fmt.Sprintf("%s-%d", d.Event, d.Nth)
	if d.Late {
		name += "-late"
	}
	return name
}

func (d death) env() string {
	return fmt.Sprintf("%s=%s,%d,%t", deathKey, d.Event, d.Nth, d.Late)
}

// newDeath reads what env said. There is none for a ralph that an agent is.
func newDeath(getenv func(string) string) *death {
	d := &death{runs: filepath.Join(getenv("GITHUB_WORKSPACE"), ".ralph", "runs")}
	words := strings.Split(getenv(deathKey), ",")
	if len(words) != 3 || getenv("RALPH_ITERATION") != "" {
		d.done = true
		return d
	}
	d.Event, d.Late = words[0], words[2] == "true"
	if _, err := fmt.Sscan(words[1], &d.Nth); err != nil {
		panic(err)
	}
	d.born = len(d.events())
	return d
}

func (d *death) now() time.Time {
	if !d.done && d.due() && (!d.Late || appending()) {
		d.strike()
	}
	return time.Now()
}

// events returns the types of the events of all runs, in order. The clock is
// looked at often, so they are read again only when there is more.
func (d *death) events() []string {
	paths, _ := filepath.Glob(filepath.Join(d.runs, "*", "journal.jsonl"))
	size := int64(0)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			size += info.Size()
		}
	}
	if size == d.size {
		return d.seen
	}
	d.size, d.seen = size, nil
	for _, path := range paths {
		data, _ := os.ReadFile(path)
		for line := range bytes.Lines(data) {
			if entry, err := journal.Decode(line); err == nil {
				d.seen = append(d.seen, journal.Type(entry.Event))
			}
		}
	}
	return d.seen
}

func (d *death) due() bool {
	types := d.events()
	if d.Event == "" {
		return len(types) >= d.born+d.Nth
	}
	if len(types) == 0 || types[len(types)-1] != d.Event {
		return false
	}
	seen := 0
	for _, name := range types {
		if name == d.Event {
			seen++
		}
	}
	return seen == d.Nth
}

// appending reports whether the journal is looking at the clock.
func appending() bool {
	callers := make([]uintptr, 8)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "journal.(*Writer).Append") {
			return true
		}
		if !more {
			return false
		}
	}
}

func (d *death) strike() {
	d.done = true
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
