package main_test

import (
	"flag"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	ralph "github.com/ralph-loop/ralph/cmd/ralph"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// quickExit spares programs built with -race the second that they wait at exit.
const quickExit = "GORACE=atexit_sleep_ms=0"

// unconfined spares runs the sandbox that they have where nothing names a level:
// run-sandbox-default.txtar is about it.
const unconfined = "RALPH_SANDBOX=none"

// hasteKey tells a ralph that a test started how long GitHub is left alone
// between two edits of a comment, and after it refused something.
const hasteKey = "RALPH_TEST_HASTE"

func haste(getenv func(string) string) time.Duration {
	if getenv(hasteKey) == "" {
		return 0
	}
	d, err := time.ParseDuration(getenv(hasteKey))
	if err != nil {
		panic(err)
	}
	return d
}

// TestMain lets this binary be ralph too, by a clock that may be deadly.
func TestMain(m *testing.M) {
	// Behind a sandbox it is started by another name.
	if len(os.Args) > 1 && os.Args[1] == sandbox.Hidden {
		syscall.Exit(ralph.Start(time.Now, 0)) // as quickExit, which programs inside cannot see
	}
	// Much of what a test does here is to wait for others.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"ask": func() { ask(); syscall.Exit(0) },
		"ralph": func() {
			if slices.Contains(os.Args, "action") {
				if err := pushSettings(os.Environ(), os.Getenv(settingsKey)); err != nil {
					panic(err)
				}
			}
			code := ralph.Start(newDeath(os.Getenv).now, haste(os.Getenv))
			if slices.Contains(os.Args, "scripted-agent") {
				syscall.Exit(code)
			}
			os.Exit(code)
		},
	})
}
