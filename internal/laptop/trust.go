package laptop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// sandboxed is the mark of a repository in which an agent was confined. Its lines are
// digests of a project's folder and of what reached past the sandbox in its runs since:
// settings, and rules of a run in its journal. Files of the project prove nothing, because git writes and removes
// them for a commit, and the agent commits.
const sandboxed = "ralph-sandboxed"

// past are the settings that run something outside of the sandbox, let something through
// it, name programs, or say what a run may cost.
func past(s config.Settings) []any {
	return []any{
		s.SCM, s.Sandbox, s.Services, s.CheckSecrets, s.Agent.Command, s.Agent.Flags, s.Agent.Prices, s.Review.Agent, s.Limits.MaxCost, s.Limits.MaxTokens,
	}
}

// settled is the line of the settings past the sandbox.
func (d *Project) settled() (string, error) { return d.marking(d.past) }

// ruled is the line of the rules and the sandbox level in a run's journal.
func (d *Project) ruled(p policy.Policy, level string) (string, error) {
	return d.marking([]any{p, level})
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

// Trusted is a fault where the settings past the sandbox are not those that a run had
// here since an agent was confined. A project of the repository that had no run since may
// have no such settings.
func (d *Project) Trusted(ctx context.Context) error {
	plain, err := config.ReadSettings()
	if err != nil {
		return fmt.Errorf("read no settings: %w", err)
	}
	unset, err := d.marking(past(plain))
	if err != nil {
		return err
	}
	line, err := d.settled()
	if err != nil {
		return err
	}
	return d.known(ctx, line, line == unset, "the settings that reach past the sandbox are not those of earlier runs: a commit may have changed them",
		"read .ralph/settings.json and .ralph/settings.local.json; if they are as you want them: ralph run --trust")
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

// known is a fault where a line is not in the mark, unless it may come first and the
// mark has none of the project. --trust puts it there.
func (d *Project) known(ctx context.Context, line string, first bool, what, fix string) error {
	if d.Place == nil {
		return nil
	}
	here, _, _ := strings.Cut(line, ":")
	lines, marked := d.Tool.Marked(ctx, *d.Place, sandboxed)
	first = first && !slices.ContainsFunc(lines, func(other string) bool { return strings.HasPrefix(other, here+":") })
	switch {
	case !marked, first, slices.Contains(lines, line):
		return nil
	case d.Trust:
		return d.Tool.Mark(ctx, *d.Place, sandboxed, line)
	}
	return fault.Usage(what, fix, nil)
}

// remember marks the repository for a run that begins by these rules. Where no agent
// was ever confined, there is nothing to remember.
func (d *Project) remember(ctx context.Context, p policy.Policy, sb *confine.Sandbox) error {
	if d.Place == nil {
		return nil
	}
	if _, marked := d.Tool.Marked(ctx, *d.Place, sandboxed); !marked && sb == nil {
		return nil
	}
	settled, err := d.settled()
	if err != nil {
		return err
	}
	ruled, err := d.ruled(p, d.level(sb))
	if err != nil {
		return err
	}
	return d.Tool.Mark(ctx, *d.Place, sandboxed, settled, ruled)
}
