package sandbox_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// With mounts, At says where a folder is inside, and so where a command's folder is. What lies at that path outside is
// neither seen nor changed.
func TestFoldersAreSeenAtOtherPaths(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		w, user, lent := testConfig(t, level, users()[0]), folder(t, 0), folder(t, 0)
		box := w.Write[0]
		write(t, filepath.Join(user, "users"), "users\n")
		write(t, filepath.Join(lent, "lent"), "lent\n")
		inside(t, w, process.Command{Argv: []string{"mkdir", "sub"}})
		seen := filepath.Join(user, "seen")
		const script = `exec 2>/dev/null; pwd; ls -A ..; echo more >>new; cat new ../seen/lent; ls "$@"; echo x >../seen/x`
		want := filepath.Join(user, "sub") + "\nseen\nsub\nmore\nlent\n"
		for _, w := range []sandbox.Config{w, w.Fixed()} {
			w.Read, w.At = []string{lent}, map[string]string{box: user, lent: seen}
			c := process.Command{Argv: []string{"sh", "-c", script, "sh", box, lent}, Dir: filepath.Join(box, "sub")}
			said, _ := inside(t, w, c)
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := read(t, filepath.Join(box, "sub", "new")); got != "more\n" {
				t.Errorf("in the folder there is %q", got)
			}
			_ = os.Remove(filepath.Join(box, "sub", "new"))
		}
		if left, err := os.ReadDir(user); len(left) != 1 || err != nil {
			t.Errorf("outside there is %v, %v", left, err)
		}
	}
}

// No link in such a folder has anything made outside, where something that can be read lies below it.
func TestLinksInAFolderAtAnotherPathLeadNowhere(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		w, home, out := testConfig(t, level, users()[0]), folder(t, 0), secretive(t)
		w.At = map[string]string{w.Write[0]: home}
		links := map[string]string{"a": "/.was" + out, "b": "../../.was" + out}
		for n := range 40 {
			links[strconv.Itoa(n)] = "/proc/self/fd/" + strconv.Itoa(n)
		}
		for name, to := range links {
			link(t, to, filepath.Join(w.Write[0], name))
			tool := filepath.Join(home, name, "made-by-ralph")
			must.Do(t, os.MkdirAll(tool, 0o755))
			w.Read = append(w.Read, out, tool)
		}
		inside(t, w, process.Command{Argv: []string{"true"}})
		for _, dir := range []string{out, home, w.Write[0]} {
			if left, err := filepath.Glob(filepath.Join(dir, "made-by-ralph")); len(left) > 0 || err != nil {
				t.Errorf("%v was made, %v", left, err)
			}
		}
	}
}

// A socket of a folder that can only be read cannot be used at its other path either, nor in a folder to write to.
func TestSocketsAtOtherPaths(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		w, home, lent := testConfig(t, level, users()[0]), folder(t, 0), folder(t, 0)
		tool, seen := filepath.Join(home, "tool"), filepath.Join(home, "seen")
		must.Do(t, os.Mkdir(tool, 0o755))
		for _, dir := range []string{w.Write[0], tool, lent} {
			answering(t, "unix", filepath.Join(dir, "s"), "it")
			open(t, filepath.Join(dir, "s"))
		}
		w.Read, w.At = []string{tool, lent}, map[string]string{w.Write[0]: home, lent: seen}
		k := talk(t, w, "talk")
		k.line()
		for dir, want := range map[string]string{home: "connected it", tool: "refused", seen: "refused"} {
			if got := k.to(filepath.Join(dir, "s")); got != want {
				t.Errorf("to %s: %q, want %q", dir, got, want)
			}
		}
	}
}

// What is written to a layer lies in its own folder, and nothing changes below. It is still there for the next command,
// unless those inside have put a link in its place.
func TestLayers(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		w, user, upper := testConfig(t, level, users()[0]), folder(t, 0), filepath.Join(folder(t, 0), "upper")
		lower := filepath.Join(user, "a,b:c\\d")
		must.Do(t, os.Mkdir(lower, 0o777))
		must.Do(t, sandbox.MakeUpper(upper))
		open(t, lower, filepath.Join(upper, sandbox.Written))
		write(t, filepath.Join(lower, "changed"), "user\n")
		write(t, filepath.Join(lower, "removed"), "user\n")
		w.At = map[string]string{w.Write[0]: user}
		w.Layers = []sandbox.Layer{{Path: lower, Lower: []string{lower}, Upper: upper}}
		c := process.Command{Argv: []string{"sh", "-c", "cd a*; echo box >>changed; rm -f removed; cat *; echo new >new"}, Dir: w.Write[0]}
		for _, want := range []string{"user\nbox\n", "user\nbox\nbox\nnew\n"} {
			said, _ := inside(t, w, c)
			if diff := cmp.Diff(want, said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
		below := filepath.Join(w.Write[0], filepath.Base(lower)) // where those inside can put something else
		must.Do(t, os.Remove(below))
		link(t, "/etc", below)
		if said, _ := inside(t, w, process.Command{Argv: []string{"readlink", lower}}); said != "/etc\n" {
			t.Errorf("in place of the layer there is %q, want their link", said)
		}
		if left, err := os.ReadDir(lower); len(left) != 2 || err != nil || read(t, filepath.Join(lower, "changed")) != "user\n" {
			t.Errorf("below there is %v, %v", left, err)
		}
	}
}
