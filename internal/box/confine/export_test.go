package confine

import (
	"context"
	"os"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Toolchain returns what can be read for the sake of PATH and the tools of a home.
func Toolchain(asked Options) []string { return toolchainFolders(asked) }

// GitEnv lays out the folders of a sandbox, and is the environment of a command inside.
func GitEnv(ctx context.Context, asked Options) ([]string, error) {
	r := new(folders)
	err := r.create(ctx, asked, func(string) error { return nil })
	return r.env(asked.Env, false, true), err
}

// Askable returns the models that agents may ask for, by their place and the maker's API.
func Askable(asked ...Model) (map[string][]string, error) {
	var who []modelUser
	for i, a := range asked {
		makers, _ := a.Keys.Makers(a.Agent, a.Name)
		who = append(who, modelUser{Model: a, makers: makers, token: strconv.Itoa(i + 1)})
	}
	all, err := serversOf(who)
	models := map[string][]string{}
	for _, maker := range all {
		models[string(maker.Token)+" "+string(maker.Dialect)] = maker.Models
	}
	return models, err
}

// Since returns what came to the one traffic after the other.
func Since(before, now []egress.Traffic) *journal.EgressPassed { return since(before, now) }

// Lending returns a sandbox with another user inside.
func Lending(uid int) *Sandbox { return &Sandbox{base: sandbox.Config{UID: uid, GID: os.Getgid()}} }

// WithTokens returns a login with the tokens of another.
func WithTokens(login, other string) string {
	text, _ := withTokens([]byte(login), []byte(other))
	return string(text)
}

// Selected returns some fields of a JSON file.
func Selected(text string, fields []string) string { return string(selected([]byte(text), fields)) }

// Bring brings a login into a new home. The returned function compares both sides.
func Bring(brought agent.HomeFile, home string) (compare func(), err error) {
	l, err := bring([]agent.HomeFile{brought}, home)
	close(l.stop)
	l.served.Wait()
	return l.compare, err
}
