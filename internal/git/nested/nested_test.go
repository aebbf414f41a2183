//go:build !windows

package nested_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/nested"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// watched is a project in which an agent works.
type watched struct {
	*testing.T

	top   string
	git   git.Git
	after func() []string // what was moved aside, without the end of its name
}

func watch(t *testing.T, before map[string]string) watched {
	t.Helper()
	w := watched{T: t, top: t.TempDir(), git: git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", w.top).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.fill(before)
	return w.again()
}

func (w watched) again() watched {
	_, settle := nested.Watch(w.Context(), w.git, w.top, guarded.Folder(w.top), "")
	w.after = func() []string {
		moved, err := settle(w.Context())
		if err != nil {
			w.Error(err)
		}
		for i, name := range moved {
			moved[i] = strings.TrimSuffix(name, nested.Aside)
		}
		return moved
	}
	return w
}

// fill writes files. One that begins with -> is a link, and one of | a pipe.
func (w watched) fill(files map[string]string) {
	w.Helper()
	for name, text := range files {
		name = filepath.Join(w.top, name)
		if to, is := strings.CutPrefix(text, "->"); is {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				w.Fatal(err)
			}
			_ = os.RemoveAll(name)
			if err := os.Symlink(to, name); err != nil {
				w.Fatal(err)
			}
			continue
		}
		write(w.T, name, text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if text == "|" {
		_ = os.Remove(name)
		err = errors.Join(err, syscall.Mkfifo(name, 0o666))
	} else {
		err = errors.Join(err, os.WriteFile(name, []byte(text), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w watched) want(names ...string) {
	w.Helper()
	slices.Sort(names)
	if diff := cmp.Diff(names, w.after()); diff != "" {
		w.Errorf("moved aside (-want +got):\n%s", diff)
	}
}

const fsmonitor = "[core]\n\tfsmonitor = x\n"

// A new repository is moved aside, unless it is a worktree or submodule of the project's own.
func TestNewRepositories(t *testing.T) {
	outside, deep := t.TempDir(), strings.Repeat("d/", 256)
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a clone":               {map[string]string{"k/.git/config": "[core]\n\tbare = false\n", "k/.git/HEAD": "x", "k/.git/objects/ab/cd": "x", "k/f": "x"}, []string{"k/.git"}},
		"a .git behind a link":  {map[string]string{"k/.git": "->../n/.git"}, []string{"k/.git"}},
		"a .git that leads out": {map[string]string{"k/.git": "gitdir: " + outside}, []string{"k/.git"}},
		"one that stood there":  {map[string]string{"k/.git": "gitdir: ../n/.git"}, []string{"k/.git"}},
		"one that comes back":   {map[string]string{"k/.git": "gitdir: ../gone/x"}, []string{"k/.git"}},
		"one that ends early":   {map[string]string{"k/.git": "gitdir: " + outside + "\x00/../../n/.git"}, []string{"k/.git"}},
		"no .git":               {map[string]string{"k/.git": "x"}, []string{"k/.git"}},
		"folders that git fills": {
			map[string]string{".git/logs/config": fsmonitor, ".git/logs/objects/x": "", ".git/logs/refs/x": "", "k/.git": "gitdir: ../.git/logs"}, []string{"k/.git"},
		},
		"a bare one": {bare("b", "[core]\n\tbare = true\n"), []string{"b/HEAD"}},
		"the top":    {map[string]string{"HEAD": "x", "objects/x": "x", "refs/x": "x", "config": fsmonitor, "f": "x"}, []string{"HEAD"}},
		"a submodule": {files: map[string]string{
			".git/modules/a/sub/logs/HEAD": strings.Repeat("0", 40), ".git/modules/a/sub/refs/remotes/origin/HEAD": "ref: x",
			"sub/.git": "gitdir: ../.git/modules/a/sub", ".git/modules/a/sub/config": "[core]\n\tworktree = ../../../../sub\n", ".git/modules/a/sub/HEAD": "x",
			".git/modules/a/sub/objects/x": "x", ".git/modules/a/sub/refs/x": "x",
		}},
		"another folder of a submodule": {map[string]string{
			"sub/.git": "gitdir: ../.git/modules/sub", ".git/modules/sub/config": "[core]\n\tworktree = ../../../sub\n", ".git/modules/sub/HEAD": "x",
			".git/modules/sub/objects/x": "x", ".git/modules/sub/refs/x": "x", "other/.git": "gitdir: ../.git/modules/sub",
		}, []string{"other/.git"}},
		"a submodule behind a link": {map[string]string{
			"sub/.git": "gitdir: ../.git/modules/sub", ".git/modules/sub/config": "[core]\n\tworktree = ../../../ln/sub\n", ".git/modules/sub/HEAD": "x",
			".git/modules/sub/objects/x": "x", ".git/modules/sub/refs/x": "x", "ln": "->.",
		}, []string{".git/modules/sub", "sub/.git"}},
		"a tree of git's own": {map[string]string{
			".git/modules/.git": "gitdir: m", ".git/modules/m/config": "[core]\n\tworktree = ..\n", ".git/modules/m/HEAD": "x",
			".git/modules/m/objects/x": "x", ".git/modules/m/refs/x": "x",
		}, []string{".git/modules/.git", ".git/modules/m"}},
		"a submodule without HEAD": {map[string]string{
			"sub/.git": "gitdir: ../.git/modules/sub", ".git/modules/sub/config": fsmonitor, ".git/modules/sub/objects/x": "x", ".git/modules/sub/refs/x": "x",
		}, []string{".git/modules/sub", "sub/.git"}},
		"half a submodule": {map[string]string{".git/modules/a/sub/config": fsmonitor}, []string{".git/modules/a/sub"}},
		"half a worktree":  {map[string]string{".git/worktrees/w/commondir": "../../../k\n"}, []string{".git/worktrees/w"}},
		"a submodule of a new worktree": {files: map[string]string{
			".git/worktrees/w/commondir": "../..\n", ".git/worktrees/w/HEAD": "x", ".git/worktrees/w/gitdir": "../../../w/.git\n", "w/.git": "gitdir: ../.git/worktrees/w\n",
			".git/worktrees/w/modules/sub/config": "[core]\n\tworktree = ../../../../../w/sub\n", ".git/worktrees/w/modules/sub/HEAD": "x",
			".git/worktrees/w/modules/sub/objects/x": "x", ".git/worktrees/w/modules/sub/refs/x": "x", "w/sub/.git": "gitdir: ../../.git/worktrees/w/modules/sub",
		}},
		"a worktree": {files: map[string]string{
			".git/worktrees/w/commondir": "../..\n", ".git/worktrees/w/HEAD": "x", ".git/worktrees/w/gitdir": "../../../w/.git\n", "w/.git": "gitdir: ../.git/worktrees/w\n",
		}},
		"a worktree of another": {map[string]string{
			"n/.git/worktrees/w/commondir": "../..\n", "n/.git/worktrees/w/HEAD": "x", "w/.git": "gitdir: ../n/.git/worktrees/w\n",
		}, []string{"n/.git/worktrees/w/HEAD", "w/.git"}},
		"within the git folder": {map[string]string{".git/objects/src/.git/config": fsmonitor}, []string{".git/objects/src/.git"}},
		"within another's":      {map[string]string{"n/.git/lfs/x/.git": "gitdir: /"}, []string{"n/.git/lfs/x/.git"}},
		"in ralph's own folder": {map[string]string{".ralph/sub/.git/config": fsmonitor}, []string{".ralph/sub/.git"}},
		"Mercurial":             {map[string]string{".hg/hgrc": "x", "n/.hg/store/x": "x"}, []string{".hg", "n/.hg"}},
		"Jujutsu":               {map[string]string{".jj/repo/store/git/x": "x"}, []string{".jj"}},
		"Sapling, by a link":    {map[string]string{"k/.sl": "->../m", "m/config": "x"}, []string{"k/.sl"}},
		"deep down":             {map[string]string{deep + "below/" + deep + "k/.git/config": fsmonitor}, []string{"too-deep"}},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := watch(t, map[string]string{"n/.git/HEAD": "x", "n/.git/objects/x": "x"})
			w.fill(c.files)
			var got []string
			for _, name := range w.after() {
				if strings.HasPrefix(name, "too-deep.") {
					name = "too-deep"
				}
				got = append(got, name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("moved aside (-want +got):\n%s", diff)
			}
			w.again().want()
		})
	}
}

// A repository that stood there stays as the commands that work in it leave it.
func TestChangedRepositories(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "objects", "x"), "")
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"as git clone makes it": {files: map[string]string{
			"n/.git/config":                "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tmerge = refs/heads/main\n",
			"n/.git/hooks/pre-push.sample": "x", "n/.git/HEAD": "ref: refs/heads/main", "n/.git/logs/HEAD": "x", "n/.git/info/exclude": "x", "n/.git/description": "x",
			"n/.git/COMMIT_EDITMSG": "x", "n/.git/refs/remotes/origin/HEAD": "ref: x", "n/.git/objects/ab/cd": "x", "n/.git/packed-refs": "x",
		}},
		"objects within":             {map[string]string{"n/.git/objects/info/alternates": "../../../m/.git/objects\n", "m/.git/objects/x": "x"}, []string{"n/.git/objects/info/alternates"}},
		"configuration":              {map[string]string{"n/.git/config": fsmonitor}, []string{"n/.git/config"}},
		"broken configuration":       {map[string]string{"n/.git/config": "[core"}, []string{"n/.git/config"}},
		"of a worktree":              {map[string]string{"n/.git/config.worktree": "[core]\n\thooksPath = x\n"}, []string{"n/.git/config.worktree"}},
		"filters":                    {map[string]string{"n/.git/config": "[filter \"x\"]\n\tclean = x\n"}, []string{"n/.git/config"}},
		"includes":                   {map[string]string{"n/.git/config": "[include]\n\tpath = ../x\n"}, []string{"n/.git/config"}},
		"a tree above":               {map[string]string{"n/.git/config": "[core]\n\tworktree = ../..\n"}, []string{"n/.git/config"}},
		"a tree that leads back":     {map[string]string{"n/.git/config": "[core]\n\tworktree = ../../o\n", "o/.git": "gitdir: ../n/.git"}, []string{"n/.git/config", "o/.git"}},
		"out by text alone":          {map[string]string{"n/.git/config": "[core]\n\tworktree = ../../ln/../o\n", "ln": "->" + outside + "/objects", "o/.git": "gitdir: ../n/.git"}, []string{"n/.git/config", "o/.git"}},
		"a tree that is a .git":      {map[string]string{"n/.git/config": "[core]\n\tworktree = ../../m/.git\n", "m/.git/HEAD": "x"}, []string{"n/.git/config"}},
		"a hook":                     {map[string]string{"n/.git/hooks/post-index-change": "x", "n/.git/hooks/x.sample": ""}, []string{"n/.git/hooks"}},
		"a half-done rebase":         {map[string]string{"n/.git/rebase-merge/todo": "exec x", "n/.git/rebase-merge/done": ""}, []string{"n/.git/rebase-merge"}},
		"files to resolve":           {map[string]string{"n/.git/MERGE_RR": "x"}, []string{"n/.git/MERGE_RR"}},
		"what is not known":          {map[string]string{"n/.git/later/x/y": "x"}, []string{"n/.git/later"}},
		"files elsewhere":            {map[string]string{"n/.git/commondir": "../../m"}, []string{"n/.git/commondir"}},
		"files in the project":       {map[string]string{"worktrees/w/commondir": "../..", "worktrees/w/HEAD": "x"}, []string{"worktrees/w/HEAD"}},
		"with a space":               {map[string]string{"n/.git/worktrees/w/commondir": "../.. ", "n/.git/worktrees/w/HEAD": "x"}, []string{"n/.git/worktrees/w/HEAD", "n/.git/worktrees/w/commondir"}},
		"objects elsewhere":          {map[string]string{"n/.git/objects/info/alternates": filepath.Join(outside, "objects") + "\n"}, []string{"n/.git/objects/info/alternates"}},
		"objects behind a link":      {map[string]string{"n/.git/objects": "->" + outside}, []string{"n/.git/objects"}},
		"a log behind a link":        {map[string]string{"n/.git/logs/HEAD": "->" + outside + "/x"}, []string{"n/.git/logs/HEAD"}},
		"a ref behind a link":        {map[string]string{"n/.git/refs/heads/deep/x": "->x"}, []string{"n/.git/refs/heads/deep/x"}},
		"a message behind a link":    {map[string]string{"n/.git/COMMIT_EDITMSG": "->" + outside}, []string{"n/.git/COMMIT_EDITMSG"}},
		"out by a link":              {map[string]string{"k/.git": "gitdir: ../to/x", "to": "->" + outside}, []string{"k/.git"}},
		"out by a link and back":     {map[string]string{"k/.git": "gitdir: ../to/../x", "to": "->" + outside}, []string{"k/.git"}},
		"an index":                   {map[string]string{"n/.git/index": "x"}, []string{"n/.git/index"}},
		"half an index":              {map[string]string{"n/.git/sharedindex.x": "x", "n/.git/index": "x"}, []string{"n/.git/index"}},
		"a bare one that runs":       {bare("b", fsmonitor), []string{"b/HEAD"}},
		"a bare one of links":        {map[string]string{"b/HEAD": "x", "b/objects": "->../o", "b/refs": "->../o", "o/x": "x"}, []string{"b/HEAD"}},
		"bare, in a folder of files": {map[string]string{"src/HEAD": "x", "src/objects/x": "x", "src/refs/x": "x", "src/main.go": "x"}, []string{"src/HEAD"}},
		"bare, with a worktree":      {with(bare("b", fsmonitor), "b/worktrees/w/HEAD", "x", "b/worktrees/w/commondir", "../.."), []string{"b/HEAD", "b/worktrees/w/HEAD"}},
		"bare, with one in its logs": {with(bare("b", fsmonitor), "b/logs/w/HEAD", "x", "b/logs/w/commondir", "../.."), []string{"b/HEAD", "b/logs/w/HEAD", "b/logs/w/commondir"}},
		"a worktree in a known one":  {map[string]string{"n/.git/worktrees/w/HEAD": "x", "n/.git/worktrees/w/commondir": "../../../z", "z/config": fsmonitor, "z/objects/x": "x", "z/refs/x": "x"}, []string{"n/.git/worktrees/w/HEAD", "n/.git/worktrees/w/commondir"}},
		"a module in a known one":    {bare("n/.git/modules/m", fsmonitor), []string{"n/.git/modules/m/HEAD", "n/.git/modules/m/config"}},
		"bare, in a .git":            {bare(".git/logs/in", fsmonitor), []string{".git/logs/in/HEAD", ".git/logs/in/config"}},
		"in what is moved":           {map[string]string{"n/.git/later/in/.git/config": fsmonitor, "n/.git/later/x": "x"}, []string{"n/.git/later", "n/.git/later/in/.git"}},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := watch(t, map[string]string{"n/.git/HEAD": "x", "n/.git/x": "x", "m/.git/HEAD": "x", "k/.git": "gitdir: ../n/.git"})
			w.fill(c.files)
			w.want(c.want...)
			for _, name := range c.want {
				if _, err := os.Lstat(filepath.Join(w.top, name)); err == nil {
					t.Errorf("%s is still there", name)
				}
			}
			w.again().want()
		})
	}
}

func with(files map[string]string, more ...string) map[string]string {
	for i := 0; i < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

func bare(dir, config string) map[string]string {
	return map[string]string{dir + "/HEAD": "x", dir + "/objects/x": "x", dir + "/refs/x": "x", dir + "/config": config}
}

// What one command begins beside the project's submodules and worktrees is not the user's for the next one.
func TestBegunByAnEarlierCommand(t *testing.T) {
	for _, dir := range []string{".git/modules", ".git/worktrees", ".git/worktrees/w/lfs", ".git/worktrees/w/modules"} {
		w := watch(t, map[string]string{".git/worktrees/w/HEAD": "x", ".git/worktrees/w/commondir": "../..", ".git/worktrees/w/gitdir": "../../../w/.git\n", "w/.git": "gitdir: ../.git/worktrees/w\n"})
		write(t, filepath.Join(w.top, dir, "config"), fsmonitor)
		w.want()
		w = w.again()
		w.fill(with(bare(dir+"/worktrees/y", ""), dir+"/HEAD", "x", dir+"/objects/x", "x", dir+"/refs/x", "x", dir+"/worktrees/y/commondir", "../..", dir+"/worktrees/y/gitdir", w.top+"/y/.git\n", "y/.git", "gitdir: ../"+dir+"/worktrees/y"))
		moved := w.after()
		for _, name := range []string{dir + "/HEAD", dir + "/config", "y/.git"} {
			if !slices.Contains(moved, name) {
				t.Errorf("%s: moved %q, without %s", dir, moved, name)
			}
		}
	}
}

// A pipe is removed. As a HEAD, it is not all that is taken of a repository.
func TestPipesAsHEAD(t *testing.T) {
	w := watch(t, map[string]string{"wt/.git": "gitdir: ../u\n"})
	if err := os.Remove(filepath.Join(w.top, "wt/.git")); err != nil {
		t.Fatal(err)
	}
	w.fill(with(bare("wt/.git", fsmonitor), "wt/.git/HEAD", "|"))
	w.fill(with(bare(".git/modules/m", fsmonitor+"worktree = ../../../m\n"), ".git/modules/m/HEAD", "|", "m/.git", "gitdir: ../.git/modules/m\n"))
	w.want("wt/.git", ".git/modules/m/config", "m/.git")
}

// What was moved aside is no worktree or submodule: a later command may give it its HEAD again, and lead there.
func TestWhatWasMovedAsideIsNoSubmodule(t *testing.T) {
	w := watch(t, nil)
	w.fill(with(bare(".git/modules/m", fsmonitor+"worktree = ../../../y\n"), ".git/worktrees/q/HEAD", "x", ".git/worktrees/q/commondir", "../../../x"))
	w.want(".git/modules/m", ".git/worktrees/q")
	w = w.again()
	for _, one := range [][2]string{{".git/modules/m", "y"}, {".git/worktrees/q", "z"}} {
		aside := one[0] + nested.Aside
		w.fill(map[string]string{aside + "/HEAD": "ref: refs/heads/main", one[1] + "/.git": "gitdir: ../" + aside})
	}
	m, q := ".git/modules/m"+nested.Aside, ".git/worktrees/q"+nested.Aside
	w.want(m+"/HEAD", m+"/config", q+"/HEAD", q+"/commondir", "y/.git", "z/.git")
}

// A pipe is removed also where a file stood that was known: git would wait for it in each status.
func TestPipesInPlaceOfFiles(t *testing.T) {
	before := map[string]string{"n/.git/config": "x", "n/.git/hooks/pre-push": "x", "b/HEAD": "x", "b/objects/x": "", "b/refs/x": "", "wt/.git": "gitdir: x", "link/.git": "->../own", "own": "|"}
	w, pipes := watch(t, before), []string{"n/.git/config", "n/.git/hooks/pre-push", "b/HEAD", "wt/.git"}
	for _, name := range pipes {
		write(t, filepath.Join(w.top, name), "|")
	}
	w.want()
	for _, name := range pipes {
		if _, err := os.Lstat(filepath.Join(w.top, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s stays: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(w.top, "link/.git")); err != nil {
		t.Errorf("the user's own: %v", err)
	}
}

// What stood there before is the user's. What changes of it has to be as git makes it.
func TestKnownRepositories(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "main/config"), "[include]\n\tpath = "+filepath.Join(outside, "link", "outer.cfg")+"\n")
	write(t, filepath.Join(outside, "main/worktrees/w/commondir"), "../..\n")
	before := map[string]string{
		"n/.git/HEAD": "x", "n/.git/config": fsmonitor, "n/.git/hooks/pre-push": "x", "n/.git/rebase-merge/todo": "x", "n/.git/logs/refs/x": "->" + outside,
		"n/.git/objects/info/alternates": outside + "\n", "out/.git": "gitdir: " + outside, "link/.git": "->../n/.git", "n/.git/config.worktree": "[include]\n\tpath = ../first.cfg\n",
		"n/first.cfg": "[includeIf \"onbranch:x\"]\n\tpath = ../second.cfg\n", "w/.git": "gitdir: " + outside + "/main/worktrees/w",
		"linked/.git/config": "->../../shared.cfg", "shared.cfg": "[alias]\n\tx = y\n", "m/.git/objects/info/alternates": "../../../lib/objects\n", "lib/objects/x": "x",
		"by/.git": "gitdir: ../way/x", "way/x/HEAD": "x", "n/.hg/hgrc": "x", ".hg/hgrc": "x", ".jj/repo/x": "x", "null/.git/config": "[include]\n\tpath = /dev/null\n",
		"store/HEAD": "x", "store/objects/x": "x", "store/refs/x": "x", "store/config": "[alias]\n", "store/worktrees/w/HEAD": "x", "store/worktrees/w/commondir": "../..\n", "queue": "|", "queued": "->queue",
	}
	for name, c := range map[string]struct {
		change func(watched)
		want   []string
	}{
		"nothing":               {change: func(watched) {}},
		"what git writes":       {change: files(map[string]string{"n/.git/HEAD": "y", "n/.git/logs/HEAD": "y", "n/.git/refs/heads/x": "y", "n/f": "y"})},
		"plain settings":        {change: files(map[string]string{"n/.git/config": "[core]\n\tbare = false\n"})},
		"settings":              {files(map[string]string{"n/.git/config": "[alias]\n\tx = !y\n"}), []string{"n/.git/config"}},
		"refs elsewhere":        {files(map[string]string{"n/.git/config": "[extensions]\n\trefStorage = files:///x\n"}), []string{"n/.git/config"}},
		"a hook":                {files(map[string]string{"n/.git/hooks/pre-commit": "y"}), []string{"n/.git/hooks"}},
		"a hook that can run":   {mode("n/.git/hooks/pre-push", 0o755), []string{"n/.git/hooks"}},
		"what it includes":      {files(map[string]string{"second.cfg": "y"}), []string{"n/.git/config.worktree"}},
		"what it leads to":      {files(map[string]string{"shared.cfg": "y"}), []string{"linked/.git/config"}},
		"a link":                {files(map[string]string{"n/.git/logs/refs/x": "->/"}), []string{"n/.git/logs/refs/x"}},
		"the way to objects":    {files(map[string]string{"lib/objects": "->" + outside}), []string{"m/.git/objects/info/alternates"}},
		"the way to a .git":     {files(map[string]string{"way": "->" + outside}), []string{"by/.git"}},
		"what others include":   {files(map[string]string{"outer.cfg": "y"}), []string{"w/.git"}},
		"of Mercurial":          {files(map[string]string{"n/.hg/hgrc": "y", "n/.hg/dirstate": "y"}), []string{"n/.hg/hgrc"}},
		"a HEAD behind a link":  {files(map[string]string{"n/.git/HEAD": "->refs/heads/x", "n/.git/config": "[alias]\n\tx = !y\n"}), []string{"n/.git/HEAD", "n/.git/config"}},
		"a store without HEAD":  {both(gone("store/HEAD"), files(map[string]string{"store/config": fsmonitor})), []string{"store/config"}},
		"what ralph puts back":  {change: files(map[string]string{".git/config": fsmonitor, ".hg/hgrc": "y"})},
		"a pipe":                {change: files(map[string]string{"n/.git/packed-refs": "|", "n/.git/shallow": "->../../queue", "x/.git": "|", "m/.git/hooks": "|", "z/HEAD": "|", ".mailmap": "|"})},
		"a folder that is shut": {both(files(map[string]string{"shut/deep/n/.git/config": fsmonitor}), mode("shut/deep", 0), mode("shut", 0)), []string{"shut/deep/n/.git"}},
		"a .git that is shut":   {both(files(map[string]string{"n/.git/config": "[alias]\n\tx = !y\n"}), mode("n/.git", 0)), []string{"n/.git/config"}},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := watch(t, before)
			if err := errors.Join(os.RemoveAll(filepath.Join(outside, "link")), os.Symlink(w.top, filepath.Join(outside, "link"))); err != nil {
				t.Fatal(err)
			}
			w = w.again()
			c.change(w)
			w.want(c.want...)
			for _, name := range []string{"n/.git/packed-refs", "n/.git/shallow", "x/.git", "m/.git/hooks", "z/HEAD", ".mailmap"} {
				if _, err := os.Lstat(filepath.Join(w.top, name)); err == nil {
					t.Errorf("%s is still there", name)
				}
			}
			for _, name := range []string{"queue", "queued"} {
				if _, err := os.Lstat(filepath.Join(w.top, name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func files(all map[string]string) func(watched) { return func(w watched) { w.fill(all) } }

func mode(name string, mode os.FileMode) func(watched) {
	return func(w watched) {
		if err := os.Chmod(filepath.Join(w.top, name), mode); err != nil {
			w.Fatal(err)
		}
	}
}

func gone(name string) func(watched) {
	return func(w watched) {
		if err := os.RemoveAll(filepath.Join(w.top, name)); err != nil {
			w.Fatal(err)
		}
		w.after()
	}
}

func both(all ...func(watched)) func(watched) {
	return func(w watched) {
		for _, one := range all {
			one(w)
		}
	}
}

// A linked worktree has its repository elsewhere: in there others may lie, too.
func TestNestedInTheFolderOfALinkedWorktree(t *testing.T) {
	w, tree := watch(t, nil), t.TempDir()
	common := filepath.Join(w.top, ".git")
	write(t, filepath.Join(common, "worktrees/wt/HEAD"), "x")
	write(t, filepath.Join(common, "worktrees/wt/commondir"), "../..\n")
	_, settle := nested.Watch(t.Context(), w.git, tree, guarded.Needs{Write: []string{tree, common, filepath.Join(common, "worktrees/wt")}}.With(common, filepath.Join(common, "worktrees/wt")), "")
	for _, name := range []string{"objects/in/.git/config", "worktrees/HEAD", "worktrees/commondir", "worktrees/objects/in/.git/config", "worktrees/wt/config"} {
		write(t, filepath.Join(common, name), fsmonitor)
	}
	write(t, filepath.Join(tree, "in/.git/config"), fsmonitor)
	moved, err := settle(t.Context())
	want := []string{"in/.git", common + "/objects/in/.git", common + "/worktrees/HEAD", common + "/worktrees/commondir", common + "/worktrees/objects/in/.git"}
	for i := range want {
		want[i] += nested.Aside
	}
	if diff := cmp.Diff(want, moved); diff != "" || err != nil {
		t.Errorf("moved, %v (-want +got):\n%s", err, diff)
	}
}

// Where the user ends what runs, their index stays as it is, and what was not seen before stays. Where git does not
// start for another reason, the index is moved aside.
func TestInterrupted(t *testing.T) {
	w := watch(t, map[string]string{"n/.git/HEAD": "x", "n/.git/config": fsmonitor})
	ctx, end := context.WithCancel(t.Context())
	end()
	_, settle := nested.Watch(ctx, w.git, w.top, guarded.Folder(w.top), "")
	if moved, err := settle(t.Context()); len(moved) > 0 || !errors.Is(err, nested.ErrNotAll) {
		t.Errorf("after a search that was ended: moved %q, %v", moved, err)
	}
	_, settle = nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	w.fill(map[string]string{".git/index": "x"})
	if moved, err := settle(ctx); len(moved) > 0 || !errors.Is(err, nested.ErrNotAll) {
		t.Errorf("where the time is up: moved %q, %v", moved, err)
	}
	w.git.Run = func(context.Context, process.Command) (process.Result, error) {
		return process.Result{}, errors.New("a command closed its home")
	}
	_, settle = nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	w.fill(map[string]string{".git/index": "another"})
	if moved, err := settle(t.Context()); len(moved) != 1 || err != nil {
		t.Errorf("where git fails otherwise: moved %q, %v; want the index", moved, err)
	}
}

// Folders keep what others may do in them.
func TestModesStay(t *testing.T) {
	w := watch(t, map[string]string{"f": "x"})
	mode(".", 0o775)(w)
	w.fill(map[string]string{".hg/hgrc": "x", "pipe": "|"})
	w.want(".hg")
	if info, err := os.Stat(w.top); err != nil || info.Mode().Perm() != 0o775 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// What git may take in all is limited: an agent can leave repositories without end that are slow to read.
func TestGitIsTimed(t *testing.T) {
	w, calls := watch(t, map[string]string{"n/.git/HEAD": "ref: refs/heads/main"}), 0
	run := w.git.Run
	w.git.Run = func(ctx context.Context, command process.Command) (process.Result, error) {
		calls++
		if _, is := ctx.Deadline(); !is {
			t.Errorf("%q has no end", command.Argv)
		}
		return run(ctx, command)
	}
	w = w.again()
	w.fill(map[string]string{"n/.git/index": "x", "n/.git/config": "[core]"})
	w.want("n/.git/index")
	if calls < 3 {
		t.Errorf("%d calls, want one for the settings and two for the index", calls)
	}
}

// git writes to some files in place: what an agent made another name of one would get its text.
func TestOtherNamesEnd(t *testing.T) {
	config := "[user]\n\tname = Ada\n"
	w := watch(t, map[string]string{"n/.git/config": config})
	if err := os.Link(filepath.Join(w.top, "n/.git/config"), filepath.Join(w.top, "n/.git/COMMIT_EDITMSG")); err != nil {
		t.Fatal(err)
	}
	w.want()
	w.fill(map[string]string{"n/.git/COMMIT_EDITMSG": fsmonitor})
	if got, err := os.ReadFile(filepath.Join(w.top, "n/.git/config")); err != nil || string(got) != config {
		t.Errorf("the configuration is %q, %v; want %q", got, err, config)
	}
}

// git asks a repository by any name what to run.
func TestWhatWasMovedIsNoRepository(t *testing.T) {
	w := watch(t, nil)
	ask := func(dir string, args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", filepath.Join(w.top, dir)}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	ask(".", "init", "-q", "n")
	ask("n/.git", "init", "-q", "--bare", "modules/m")
	ask(".", "init", "-q", "n/.git/modules/m/refs/o")
	w.want("n/.git")
	for _, dir := range []string{"", "/hooks", "/modules/m", "/modules/m/refs", "/modules/m/refs/o/.git" + nested.Aside} {
		if got, want := ask("n/.git"+nested.Aside+dir, "rev-parse", "--absolute-git-dir"), filepath.Join(w.top, ".git"); got != want {
			t.Errorf("in %q git works with %s, want %s", dir, got, want)
		}
	}
	w.again().want()
}

// What was moved aside before is kept: it may be the user's own.
func TestMovedAsideTwice(t *testing.T) {
	w := watch(t, map[string]string{"n/.git/config" + nested.Aside + "/x": ""})
	w.fill(map[string]string{"n/.git/config": fsmonitor})
	w.want("n/.git/config")
	if earlier, err := filepath.Glob(filepath.Join(w.top, "n/.git/config.*"+nested.Aside, "x")); err != nil || len(earlier) != 1 {
		t.Errorf("what was moved before is gone: %q, %v", earlier, err)
	}
}

// A search of the user's folders that are nested deeper than is looked at says so, and one that the end
// of its context cuts short.
func TestLookingForOthersIsBounded(t *testing.T) {
	w := watch(t, nil)
	deep := strings.Repeat("d/", 256)
	w.fill(map[string]string{deep + "f": "x"})
	_, settle := nested.Watch(t.Context(), w.git, w.top, guarded.Folder(w.top), "")
	w.fill(map[string]string{deep + "below/.git/config": fsmonitor, "a/.git/config": fsmonitor})
	moved, err := settle(t.Context())
	if err == nil || !strings.Contains(err.Error(), "cannot look into "+strings.TrimSuffix(deep, "/")) || len(moved) != 1 {
		t.Errorf("moved %q, %v", moved, err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := settle(ctx); !errors.Is(err, nested.ErrNotAll) {
		t.Errorf("after the end: %v", err)
	}
}
