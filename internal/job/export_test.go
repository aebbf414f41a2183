package job

import (
	"context"
	"os"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Toolchain is what can be read for the sake of PATH and the tools of a home.
func Toolchain(asked WallAsked) []string { return toolchain(asked) }

// Missed is what is told of what cannot be had inside.
func Missed(asked WallAsked) []journal.Noted {
	r := rooms{settled: settledIn(asked.Home, asked.Settled), lent: there(asked.Home, asked.State, asked.Env)}
	return r.missed(asked)
}

// Askable are the models that agents may ask for, by the maker's API.
func Askable(asked ...ModelAsked) (map[string][]string, error) {
	var who []asker
	for _, a := range asked {
		makers, _ := a.Keys.Makers(a.Agent, a.Name)
		who = append(who, asker{ModelAsked: a, makers: makers})
	}
	all, err := askable(who)
	models := map[string][]string{}
	for _, maker := range all {
		models[string(maker.Dialect)] = maker.Models
	}
	return models, err
}

// Since is what came to the one traffic after the other.
func Since(before, now []egress.Traffic) *journal.EgressPassed { return since(before, now) }

// Heard is what goes on record of a refusal.
func Heard(r egress.Refusal) []journal.Event {
	w := new(Wall)
	w.refused(WallAsked{})(r)
	return w.heard
}

// Metered is what an agent used and how it ended, by what the model server saw.
func Metered(ended journal.AgentEnded, seen egress.Spent) journal.AgentEnded {
	return metered(ended, seen)
}

// Answered is what would be read of what an agent says.
func Answered(items ...stream.Item) string {
	var said answer
	for _, item := range items {
		said.take(item)
	}
	return said.text()
}

// AtCommit is a file of a commit, and whether that could be asked at all.
func AtCommit(ctx context.Context, trusted *git.Trusted, commit, name string) ([]byte, error) {
	r := reader{ctx: ctx, trusted: trusted, commit: commit}
	return r.file(name), r.err
}

// Whole is how things run behind a wall as long as it was not broken.
func Whole(next sandbox.Next) sandbox.Next { return new(Wall).whole(next) }

// Lending is a wall behind which another user is.
func Lending(uid int) *Wall { return &Wall{base: sandbox.Wall{UID: uid, GID: os.Getgid()}} }
