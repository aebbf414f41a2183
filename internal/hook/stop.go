package hook

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// mostStops is how often in a row a session is kept from ending for how it
// leaves its tree. What it did not mend by then it will not mend.
const mostStops = 3

// stop says whether a session may end: a loop within it has the first word,
// then the loop that started it.
func (d Door) stop(ctx context.Context, in input) answer {
	if said, looping := d.loop(in); looping {
		return said
	}
	project := d.project(in)
	if !d.tied(project) {
		return answer{}
	}
	wrong, unknown := d.wrong(ctx, project)
	if len(wrong) == 0 {
		if unknown != nil {
			return note(fmt.Sprintf("ralph: what is committed could not be checked: %v", unknown))
		}
		return answer{}
	}
	return d.keep(in, strings.Join(wrong, "\n\n"))
}

// tied tells whether a session belongs to the run that goes on in the project.
// Anybody else who works there may stop as they like.
func (d Door) tied(project string) bool {
	active, alive := workspace.ReadActive(project)
	switch {
	case active.PID == 0:
		return false
	case d.Env("RALPH_SANDBOX") == "docker": // it shows no process and no lock of the outside
		return true
	}
	// In a process namespace the run's process cannot be seen, but its lock can.
	alive = alive || workspace.Folder{Path: filepath.Join(project, ".ralph")}.Free() != nil
	return alive && d.ours()
}

// wrong is what has to be mended before the session ends.
func (d Door) wrong(ctx context.Context, project string) (wrong []string, unknown error) {
	memory := workspace.Memory{Tree: project, Dir: memoryOf(project)}
	books := memory.Books()
	if err := memory.Audit(); err != nil {
		wrong = append(wrong, say("session/prd.md", "{name}", books[0], "{problems}", err.Error()))
	}
	dirty, err := d.Dirty(ctx, project)
	if len(dirty) > 0 {
		wrong = append(wrong, say("session/uncommitted.md", "{files}", listed(dirty), "{prd}", books[0], "{progress}", books[1]))
	}
	return wrong, err
}

// memoryOf is the folder of the PRD, as the run under way has it.
func memoryOf(project string) string {
	var memory string
	workspace.Folder{Path: filepath.Join(project, ".ralph")}.Unfinished(func(run journal.Run) bool {
		if run.Policy.Done != policy.ByStories {
			return false
		}
		memory = run.Policy.Memory
		return true
	})
	return memory
}

func listed(paths []string) string {
	const most = 5
	text := strings.Join(paths[:min(most, len(paths))], ", ")
	if more := len(paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// keep sends the agent back, but not for ever.
func (d Door) keep(in input, why string) answer {
	m, err := openMarks(d.State, in.Session)
	if err != nil {
		if in.Again { // once is all that can be counted without a folder
			return note(fmt.Sprintf("ralph: the session ends although this is left:\n\n%s", why))
		}
		return block(why, "")
	}
	defer m.close()
	if !in.Again {
		_ = m.clear("stop-") // what is left counts against the agent, and it will be let go the sooner
	}
	n, err := m.count("stop-", mostStops)
	if err != nil || n > mostStops {
		return note(fmt.Sprintf("ralph: the session was kept from ending %d times, and is let go. This is left:\n\n%s", mostStops, why))
	}
	return block(why, "")
}
