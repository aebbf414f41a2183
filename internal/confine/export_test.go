package confine

import (
	"context"
	"os"
	"strconv"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// Toolchain returns what can be read for the sake of PATH and the tools of a home.
func Toolchain(asked Options) []string { return toolchainFolders(asked) }

// Opened returns where that leads, as far as the sandbox follows it.
func Opened(asked Options) (places []string) {
	for _, path := range Toolchain(asked) {
		if place, err := asked.resolve(path); err == nil {
			places = append(places, place)
		}
	}
	return places
}

// StateIn returns what an agent keeps, with whole paths.
func StateIn(asked Options) agent.State { return stateIn(asked.Home, asked.Env, asked.State) }

// GitEnv lays out the folders of a sandbox, and is the environment of a command inside.
func GitEnv(ctx context.Context, asked Options) ([]string, error) {
	r := new(folders)
	err := r.create(ctx, asked, func(string) error { return nil })
	return r.env(asked.Env, false), err
}

// Missed returns what is told of what cannot be had inside.
func Missed(asked Options) []journal.Noted {
	r := folders{agentPaths: existing(StateIn(asked).Paths())}
	return r.missingTools(asked)
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

// Whole returns how commands run in a sandbox as long as everything could be put back, and what people are told.
func Whole(next sandbox.Exec) (run sandbox.Exec, told func() []journal.Event) {
	w := new(Sandbox)
	return w.stopAfterBreach(next), func() []journal.Event { return w.pending }
}

// Lending returns a sandbox with another user inside.
func Lending(uid int) *Sandbox { return &Sandbox{base: sandbox.Config{UID: uid, GID: os.Getgid()}} }

// Caching returns a sandbox of a user with its folders in dir.
func Caching(dir string) *Sandbox {
	return &Sandbox{folders: folders{dir: dir, home: dir, lend: func(string) error { return nil }}}
}

// Mark keeps a text for a sandbox of the user of a home.
func Mark(home string, text []byte) (done func(bool) error, err error) {
	w := &Sandbox{folders: folders{home: home}}
	_, keep, err := w.mark(nil)
	if err != nil {
		return nil, err
	}
	return keep(text)
}

// Marking returns what keeps marks for a user who has such records.
func Marking(home string, records Records) func(folders []string) (done func(bool) error, told func() []journal.Event) {
	w := &Sandbox{folders: folders{home: home}, records: records}
	return func(folders []string) (func(bool) error, func() []journal.Event) {
		_, keep, err := w.mark(folders)
		if err != nil {
			panic(err)
		}
		done, err := keep([]byte("x"))
		if err != nil {
			panic(err)
		}
		return done, func() []journal.Event { return w.pending }
	}
}
