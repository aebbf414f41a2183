package laptop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// sandboxed is the mark of a repository in which an agent was confined. Its lines are
// digests of a project's folder and of the settings that its runs had since. Files of the project prove nothing, because git writes and removes them for
// a commit, and the agent commits.
const sandboxed = "ralph-sandboxed"

// past are the settings that decide what a run does, what it may cost and what counts as
// done: all but those of what people and the agent see.
func past(s config.Settings) config.Settings {
	s.Schema, s.CompletionResponse, s.OutputTruncateChars, s.StreamAgentOutput, s.IncludeIterationCountInPrompt = "", "", 0, false, false
	return s
}

// settled are the lines of the settings.
func (d *Project) settled() (lines []string, err error) {
	for _, of := range d.past {
		line, err := d.marking(of)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// marking is a line of the mark: the project's folder, and what is so there.
func (d *Project) marking(of any) (string, error) {
	here, err := digest(d.Within())
	if err != nil {
		return "", err
	}
	what, err := digest(of)
	return here + ":" + what, err
}

func digest(of any) (string, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("digest of settings: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Trusted is a fault where the settings are not those that a run had here since an agent
// was confined. A project of the repository that had no run since may have no settings.
func (d *Project) Trusted(ctx context.Context) error {
	marks, marked := d.marks(ctx)
	if !marked {
		return nil
	}
	plain, err := config.ReadSettings()
	if err != nil {
		return fmt.Errorf("read no settings: %w", err)
	}
	unset, err := d.marking(past(plain))
	if err != nil {
		return err
	}
	lines, err := d.settled()
	if err != nil {
		return err
	}
	here, _, _ := strings.Cut(unset, ":")
	if !slices.ContainsFunc(marks, func(other string) bool { return strings.HasPrefix(other, here+":") }) {
		marks = append(marks, unset)
	}
	switch {
	case !slices.ContainsFunc(lines, func(line string) bool { return !slices.Contains(marks, line) }):
		return nil
	case d.Trust:
		return d.Tool.Mark(ctx, *d.Place, sandboxed, lines...)
	}
	return fault.Usage("the settings are not those of earlier runs: a commit or an agent may have changed them",
		"read .ralph/settings.json, .ralph/settings.local.json and the file of --config; if they are as you want them: ralph run --trust", nil)
}

// marks are the lines of the repository's mark. One within a repository in which an agent
// was confined counts as marked: the agent may have made it.
func (d *Project) marks(ctx context.Context) (lines []string, marked bool) {
	if d.Place == nil {
		return nil, false
	}
	lines, marked = d.Tool.Marked(ctx, *d.Place, sandboxed)
	for dir := d.Place.Top; !marked && dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			_, marked = d.Tool.Marked(ctx, git.Place{Top: dir}, sandboxed)
		}
	}
	return lines, marked
}

// OfChecks is the sandbox level of the project's checks where no agent works: that of a
// run. Where nothing names a level, they have none until an agent was confined here.
func (d *Project) OfChecks(ctx context.Context) (sandbox.Level, error) {
	if err := d.Trusted(ctx); err != nil {
		return "", err
	}
	level, err := d.Wanted()
	if level == InDocker || err == nil && d.Optional(ctx) { // checks do not run in Docker's
		return sandbox.None, nil
	}
	return level, err
}

// remember marks the repository for a run that begins. Where no agent was ever confined,
// there is nothing to remember.
func (d *Project) remember(ctx context.Context, sb *confine.Sandbox) error {
	if d.Place == nil {
		return nil
	}
	if _, marked := d.marks(ctx); !marked && sb == nil {
		return nil
	}
	lines, err := d.settled()
	if err != nil {
		return err
	}
	return d.Tool.Mark(ctx, *d.Place, sandboxed, lines...)
}

// vouched is a fault where the journal of a run is not as ralph wrote it in this folder.
func (d *Project) vouched(home workspace.Run) error {
	if d.Trust || d.runs().Vouched(home) {
		return nil
	}
	return fault.Usage("the journal of the run "+home.ID+" is not as ralph wrote it here: a commit or an agent may have changed it",
		"look at .ralph/runs/"+home.ID+"/journal.jsonl; if all that it says is so: ralph resume --trust", nil)
}
