package confine

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// JoinState returns what two agents keep that stand behind one sandbox.
func JoinState(one, other agent.State) agent.State {
	all := agent.State{
		Folders: map[string][]string{}, Files: map[string][]string{},
		Temp: slices.Concat(one.Temp, other.Temp), Env: slices.Concat(one.Env, other.Env), Makes: slices.Concat(one.Makes, other.Makes),
	}
	for _, state := range []agent.State{one, other} {
		maps.Copy(all.Folders, state.Folders)
		maps.Copy(all.Files, state.Files)
	}
	return all
}

func stateIn(home string, kept agent.State) agent.State {
	all := agent.State{Folders: map[string][]string{}, Files: map[string][]string{}, Env: kept.Env}
	for dir, but := range kept.Folders {
		all.Folders[filepath.Join(home, dir)] = but
	}
	for file, fields := range kept.Files {
		all.Files[filepath.Join(home, file)] = fields
	}
	for _, path := range kept.Temp {
		all.Temp = append(all.Temp, filepath.Join(home, path))
	}
	all.Makes = slices.Concat(kept.Makes, kept.Temp)
	return all
}

// checkApart refuses a project in a folder of the agent, which is put back as it was after each command.
func (a Options) checkApart() error {
	if a.Home == "" {
		return nil
	}
	for dir := range stateIn(a.Home, a.State).Folders {
		for _, project := range resolved(slices.Concat(a.Private, a.Reach)) {
			if process.Under(untrusted.Place(dir), project) {
				return fault.Usage("the project is in a folder of the agent, where most changes are undone: "+dir,
					"move it to another folder, and make a link to it there: ln -s; or use --no-sandbox", nil)
			}
		}
	}
	return nil
}

// createAgentFolders makes the agent's folders in the user's home, which it cannot make inside.
func (r *folders) createAgentFolders(state agent.State) error {
	var errs []error
	for name := range state.Folders {
		errs = append(errs, os.MkdirAll(filepath.Join(r.home, name), 0o700))
	}
	return errors.Join(errs...)
}

// isMadeByAgent reports whether an agent's program makes a path by itself, or what it lies in.
func (r *folders) isMadeByAgent(path string) bool {
	way, err := filepath.Rel(r.home, path)
	for ; err == nil && way != "."; way = filepath.Dir(way) {
		if slices.ContainsFunc(r.state.Makes, func(pattern string) bool { fits, _ := filepath.Match(pattern, way); return fits }) {
			return true
		}
	}
	return false
}

func (r *folders) missingAgentPaths() (notes []journal.Noted) {
	for _, dir := range r.agentPaths {
		entries, _ := untrusted.ReadDir(dir) // what cannot be read gives nothing
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			if places := resolved([]string{path}); entry.Type()&fs.ModeSymlink != 0 && len(places) == 1 && !anyHolds(resolved(r.agentPaths), places[0]) {
				notes = append(notes, journal.Noted{
					What: path + " is hidden in the sandbox: it is a link out of a folder that the agent can write to", Hint: "replace the link with the file",
				})
			}
		}
	}
	return notes
}
