package laptop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// sandboxed is the mark of a repository in which an agent was confined. Its lines are
// digests of what reached past the sandbox in the runs since: settings, and rules of a
// run in its journal. Files of the project prove nothing, because git writes and removes
// them for a commit, and the agent commits.
const sandboxed = "ralph-sandboxed"

// past are the settings that run something outside of the sandbox, let something through
// it, name programs, or say what a run may cost.
func past(s config.Settings) []any {
	return []any{
		s.SCM, s.Sandbox, s.Services, s.CheckSecrets, s.Agent.Command, s.Agent.Flags, s.Agent.Prices, s.Review.Agent, s.Limits.MaxCost, s.Limits.MaxTokens,
	}
}

// settled is the digest of the settings past the sandbox.
func (d *Project) settled() (string, error) { return d.digest(d.past) }

// ruled is the digest of the rules and the sandbox level in a run's journal.
func (d *Project) ruled(p policy.Policy, level string) (string, error) {
	return d.digest([]any{p, level})
}

func (d *Project) digest(of any) (string, error) {
	text, err := json.Marshal([]any{d.Within(), of})
	if err != nil {
		return "", fmt.Errorf("digest of settings: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Trusted is a fault where the settings past the sandbox are not those that a run had
// here since an agent was confined.
func (d *Project) Trusted(ctx context.Context) error {
	digest, err := d.settled()
	if err != nil {
		return err
	}
	return d.known(ctx, digest, "the settings that reach past the sandbox are not those of earlier runs: a commit may have changed them",
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

// known is a fault where a digest is not in the mark. --trust puts it there.
func (d *Project) known(ctx context.Context, digest, what, fix string) error {
	if d.Place == nil {
		return nil
	}
	digests, marked := d.Tool.Marked(ctx, *d.Place, sandboxed)
	switch {
	case !marked, len(digests) == 0, slices.Contains(digests, digest):
		return nil
	case d.Trust:
		return d.Tool.Mark(ctx, *d.Place, sandboxed, digest)
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
