package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

type doctorCommand struct {
	Sandbox bool  `help:"What confines an agent here: each mechanism, and an attack from inside."`
	Level   level `placeholder:"LEVEL" default:"auto" help:"Put this level to the test, not the strongest that is found."`
	UID     int   `name:"uid" placeholder:"N" help:"Who is inside, where ralph is root; whoever you are when not given."`
	JSON    bool  `name:"json" help:"Print it as one JSON object."`
}

// Help gives the example.
func (doctorCommand) Help() string {
	return `Looks at what a run will need and tells what it does not find, with what to do
about it. The sandbox is all it looks at today.

Example: ralph doctor --sandbox`
}

func (doctorCommand) guarded() bool { return true }

func (c doctorCommand) run(ctx context.Context, w world) (int, error) {
	self, err := executable()
	if err != nil {
		return 0, err
	}
	room, err := os.MkdirTemp("", "ralph-doctor-")
	if err != nil {
		return 0, fault.Usage("cannot write to the temporary folder", "set TMPDIR to one that is writable", err)
	}
	defer func() { _ = os.RemoveAll(room) }()
	wall := sandbox.Wall{Level: sandbox.Level(c.Level), Self: self, UID: c.UID, GID: c.UID, Write: []string{room}}
	found := doctor.LookAtSandbox(ctx, wall, w.runner.Run)
	code := fault.ExitDone
	if !found.Holds {
		code = fault.ExitUsage
	}
	if c.JSON {
		encoder := json.NewEncoder(w.stdout)
		encoder.SetIndent("", "  ")
		return code, encoder.Encode(map[string]any{"sandbox": found})
	}
	_, err = fmt.Fprint(w.stdout, found.Text())
	return code, err
}
