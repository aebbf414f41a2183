//go:build !windows

package nested_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/nested"
)

const trap = "[trap]\n\tsprung = true\n"

// places are where an agent makes repositories, parts of them, or what leads to them.
var places = strings.Fields(`x x/.git x/worktrees/y x/logs/y x/modules/y y y/.git z sub sub/.git wt wt/.git n/.git n/.git/modules/m
	n/.git/worktrees/y n/.git/logs/y n/.git/lfs/y .git/modules .git/modules/m .git/modules/m/worktrees/y .git/modules/m/logs/y .git/modules/m/modules/y
	.git/worktrees .git/worktrees/y .git/worktrees/wt .git/worktrees/wt/lfs .git/worktrees/wt/lfs/worktrees/y .git/worktrees/wt/modules/m
	.git/modules/sub/lfs .git/modules/sub/lfs/worktrees/y .git/modules/sub/worktrees/y .git/logs/y .git/refs/y .git/objects/y .git/lfs .git/lfs/worktrees/y
	.git/modules/m.moved-by-ralph .git/worktrees/y.moved-by-ralph`)

// gardener plants by the rules of a sandbox: what is guarded, as it was at the begin of a command, is not its to change.
type gardener struct {
	watched

	needs guarded.Needs
}

func (g gardener) may(name string) bool {
	path := filepath.Join(g.top, name)
	holds := func(folder, path string) bool { return strings.HasPrefix(path+"/", folder+"/") }
	for _, only := range g.needs.ReadOnly {
		if holds(only, path) || holds(path, only) {
			return false
		}
	}
	for _, guard := range g.needs.Guarded {
		way, within := strings.CutPrefix(path, guard.Dir+"/")
		first, _, _ := strings.Cut(way, "/")
		fits := func(pattern string) bool { is, _ := filepath.Match(pattern, first); return is }
		if within && !slices.ContainsFunc(guard.But, fits) || !within && holds(path, guard.Dir) {
			return false
		}
	}
	return true
}

func (g gardener) put(name, text string) {
	path := filepath.Join(g.top, name)
	if !g.may(name) || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
		return
	}
	_ = os.Remove(path)
	switch to, link := strings.CutPrefix(text, "->"); {
	case link:
		_ = os.Symlink(to, path)
	case text == "|":
		_ = syscall.Mkfifo(path, 0o600)
	default:
		_ = os.WriteFile(path, []byte(text), 0o755)
	}
}

// What is planted at a place; some of it leads to another place.
const (
	repository = iota
	settings
	head
	store
	worktree
	gitFile
	link
	pipe
	pipeOfSettings
	nothing
	moved
	module
	hook
	kinds
)

func (g gardener) plant(kind byte, at, other string) {
	to := filepath.Join(g.top, other)
	switch kind % kinds {
	case repository:
		g.plant(settings, at, "")
		g.plant(head, at, "")
		g.plant(store, at, "")
	case settings:
		g.put(at+"/config", trap)
	case head:
		g.put(at+"/HEAD", "ref: refs/heads/main\n")
	case store:
		g.put(at+"/objects/x", "")
		g.put(at+"/refs/x", "")
	case worktree:
		g.put(at+"/HEAD", "ref: refs/heads/main\n")
		way, _ := filepath.Rel(at, other) // both are in the project
		g.put(at+"/commondir", way)
	case gitFile:
		g.put(at+"/.git", "gitdir: "+to)
	case link:
		g.put(at, "->"+to)
	case pipe:
		g.put(at+"/HEAD", "|")
	case pipeOfSettings:
		g.put(at+"/config", "|")
	case nothing:
		if g.may(at) {
			_ = os.RemoveAll(filepath.Join(g.top, at))
		}
	case moved:
		if g.may(at) && g.may(other) {
			_ = os.Rename(filepath.Join(g.top, at), to)
		}
	case module:
		g.put(at+"/gitdir", to+"/.git\n")
		g.put(at+"/config", "[core]\n\tworktree = "+to+"\n"+trap)
	case hook:
		g.put(at+"/hooks/post-index-change", trap)
	}
}

// sprung returns the folders in which git reads a planted configuration, or would run a planted hook.
func (g gardener) sprung() (where []string) {
	ask := func(dir string, args ...string) string {
		cmd := exec.CommandContext(g.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.git.Home, "GIT_CONFIG_NOSYSTEM=1"}
		out, _ := cmd.Output() // no, or broken
		return strings.TrimSpace(string(out))
	}
	_ = filepath.WalkDir(g.top, func(path string, _ fs.DirEntry, _ error) error {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil //nolint:nilerr // a file, or a link that leads nowhere
		}
		hook := ask(path, "rev-parse", "--path-format=absolute", "--git-path", "hooks/post-index-change")
		text, _ := os.ReadFile(hook)
		if ask(path, "config", "trap.sprung") != "" || string(text) == trap {
			where = append(where, strings.TrimPrefix(path, g.top))
		}
		return nil
	})
	return where
}

// pipes returns those that are left: git would wait for a writer.
func (g gardener) pipes() (where []string) {
	_ = filepath.WalkDir(g.top, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type() == fs.ModeNamedPipe {
			where = append(where, strings.TrimPrefix(path, g.top))
		}
		return nil
	})
	return where
}

// An agent may leave anything over several commands, and each search takes what it finds for the user's. git that is
// run afterwards, anywhere in the project, obeys none of it. Three bytes plant one thing; 255 ends a command.
func FuzzPlants(f *testing.F) {
	place := func(name string) byte { return byte(slices.Index(places, name)) }
	plant := func(kind byte, at, other string) []byte { return []byte{kind, place(at), place(other)} }
	end := []byte{255, 0, 0}
	f.Add(slices.Concat(plant(repository, "x", "x"), plant(worktree, "x/logs/y", "x")))
	f.Add(slices.Concat(plant(repository, "x", "x"), plant(worktree, "x/worktrees/y", "x")))
	for _, lfs := range []string{".git/worktrees/wt/lfs", ".git/modules/sub/lfs"} {
		f.Add(slices.Concat(plant(settings, lfs, lfs), end, plant(repository, lfs, lfs), plant(worktree, lfs+"/worktrees/y", lfs),
			plant(module, lfs+"/worktrees/y", "y"), plant(gitFile, "y", lfs+"/worktrees/y")))
	}
	f.Add(slices.Concat(plant(nothing, "wt/.git", "x"), plant(repository, "wt/.git", "x"), plant(pipe, "wt/.git", "x"), end, plant(head, "wt/.git", "x")))
	f.Add(slices.Concat(plant(settings, ".git/modules", "x"), end, plant(repository, ".git/modules", "x"), plant(gitFile, "y", ".git/modules")))
	aside := ".git/modules/m.moved-by-ralph"
	f.Add(slices.Concat(plant(repository, ".git/modules/m", "x"), end, plant(head, aside, "x"), plant(gitFile, "y", aside)))
	f.Add(plant(pipeOfSettings, "n/.git", "x"))
	f.Fuzz(func(t *testing.T, plants []byte) {
		plants = plants[:min(len(plants), 60)]
		g := gardener{watched: watch(t, nil)}
		for _, args := range []string{"commit -q --allow-empty -m x", "worktree add -q wt", "init -q n", "-C n commit -q --allow-empty -m x", "submodule --quiet add ./n sub"} {
			cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, strings.Fields(args)...)...)
			cmd.Dir = g.top
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v: %s", args, err, out)
			}
		}
		var told []string
		for {
			g.needs = guarded.Folder(g.top)
			_, settle := nested.Watch(t.Context(), g.git, g.top, g.needs, "")
			for ; len(plants) >= 3 && plants[0] != 255; plants = plants[3:] {
				g.plant(plants[0], places[int(plants[1])%len(places)], places[int(plants[2])%len(places)])
			}
			moved, err := settle(t.Context())
			if told = append(told, moved...); err != nil {
				told = append(told, err.Error())
			}
			if len(plants) < 3 {
				break
			}
			plants = plants[3:]
		}
		if where := g.pipes(); len(where) > 0 {
			t.Fatalf("pipes stay: %q; told: %q", where, told)
		}
		if where := g.sprung(); len(where) > 0 {
			t.Errorf("git obeys what was planted in %q; told: %q", where, told)
		}
	})
}
