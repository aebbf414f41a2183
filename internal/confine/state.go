package confine

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
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

// stateIn returns the same with whole paths: in the home, or where variables of env say.
func stateIn(home string, env []string, kept agent.State) agent.State {
	all := agent.State{Folders: map[string][]string{}, Files: map[string][]string{}, Env: kept.Env}
	for path, but := range kept.Folders {
		if dir, way := environ.Place(path, home, env); dir != "" {
			place := filepath.Join(dir, way)
			all.Folders[place] = append(all.Folders[place], but...)
		}
	}
	for path, fields := range kept.Files {
		if dir, way := environ.Place(path, home, env); dir != "" {
			addFile(all, filepath.Join(dir, way), fields)
		}
	}
	literal := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	for _, path := range slices.Concat(kept.Makes, kept.Temp) {
		dir, way := environ.Place(path, home, env)
		all.Makes = append(all.Makes, filepath.Join(literal.Replace(dir), way))
	}
	for _, path := range kept.Temp {
		all.Temp = append(all.Temp, filepath.Join(environ.Place(path, home, env)))
	}
	return all
}

// addFile has the folders that hold a file leave it to its fields.
func addFile(kept agent.State, file string, fields []string) {
	kept.Files[file] = fields
	for dir, but := range kept.Folders {
		if name, within := strings.CutPrefix(file, dir+"/"); within {
			kept.Folders[dir] = append(but, name)
		}
	}
}

// States returns what all agents keep, with whole paths.
func States(home string, env []string) (all agent.State) {
	for _, kept := range agent.States() {
		all = JoinState(all, stateIn(home, env, kept))
	}
	all.Env = nil // those of the agent that runs
	return all
}

// checkApart refuses a project in a folder of the agent, which is put back as it was after each command. Neither may it
// be the folder of any agent, nor have links to one.
func (a Options) checkApart() error {
	if a.Home == "" {
		return nil
	}
	own := stateIn(a.Home, a.Env, a.State)
	if err := a.checkPlaces(JoinState(States(a.Home, a.Env), own)); err != nil {
		return err
	}
	for dir := range own.Folders {
		holds := func(path string) bool { return process.Under(untrusted.Place(dir), path) }
		switch {
		case slices.ContainsFunc(resolved(slices.Concat(a.Private, a.Reach)), holds):
			return fault.Usage("the project is in a folder of the agent, where most changes are undone: "+dir,
				"move it to another folder, and make a link to it there: ln -s; or use --no-sandbox", nil)
		case slices.ContainsFunc(resolved([]string{a.Home, workspace.UserStateDir(a.Home)}), holds):
			return fault.Usage("your home or ralph's own state is in a folder of the agent, which can write there: "+dir,
				"let its variable, such as CODEX_HOME, name another folder; or use --no-sandbox", nil)
		}
	}
	return nil
}

func (a Options) checkPlaces(all agent.State) error {
	reach := resolved(a.Reach)
	for _, path := range slices.Concat(slices.Sorted(maps.Keys(all.Folders)), slices.Sorted(maps.Keys(all.Files))) {
		var link string
		place, err := untrusted.ResolveWithin(path, func(at string) bool { link = at; return anyHolds(reach, filepath.Dir(at)) },
			func(at, place string) bool {
				link = at
				dir := a.nearest(filepath.Dir(at), a.wasConfined)
				return dir != "" && !process.Under(dir, place)
			})
		switch {
		case errors.Is(err, untrusted.ErrTheirLink):
			return fault.Usage("a link in a project leads to an agent's files, and sandboxed programs could exchange it: "+link,
				"replace it with "+untrusted.Place(link)+", or let the variable that names it, such as CODEX_HOME, name that; or use --no-sandbox", nil)
		case slices.Contains(reach, place):
			return fault.Usage("the project is an agent's folder, where most changes are undone: "+path,
				"if a variable such as CODEX_HOME names it, let that name another folder; or use --no-sandbox", nil)
		}
	}
	return nil
}

// createAgentFolders makes the agent's folders, which it cannot make inside. What other agents keep is guarded, too, where
// it lies in the project.
func (r *folders) createAgentFolders(asked Options) error {
	var errs []error
	own := stateIn(r.home, asked.Env, asked.State)
	for dir := range own.Folders {
		errs = append(errs, os.MkdirAll(dir, 0o700))
	}
	r.state, r.agentPaths = JoinState(States(r.home, asked.Env), own), existing(own.Paths())
	return errors.Join(errs...)
}

// guardState guards what agents keep in folders of a command, also where a link of the user leads there.
func (r *folders) guardState(inside *sandbox.Config, lies func(path string) bool) {
	written := func(path string) string {
		way := untrusted.WayOf(path)
		for _, dir := range filtered(way.Folders, lies) { // .. behind a link in its place would lead elsewhere
			inside.Guards = append(inside.Guards, putback.Guard{Dir: dir, But: []string{"."}})
		}
		for _, path := range []string{path, way.Names[len(way.Names)-1]} {
			if slices.Contains(inside.Write, path) || lies(path) {
				return path
			}
		}
		return ""
	}
	inside.Fields = map[string][]string{}
	for dir, but := range r.state.Folders {
		if dir = written(dir); dir != "" {
			inside.Guards = append(inside.Guards, putback.Guard{Dir: dir, But: but})
		}
	}
	for file, fields := range r.state.Files {
		if file = written(file); file != "" {
			inside.Fields[file] = fields
		}
	}
}

// isMadeByAgent reports whether an agent's program makes a path by itself, or what it lies in.
func (r *folders) isMadeByAgent(path string) bool {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if slices.ContainsFunc(r.state.Makes, func(pattern string) bool { fits, _ := filepath.Match(pattern, path); return fits }) {
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
