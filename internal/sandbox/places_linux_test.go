package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// secretive returns a folder outside, with a file that no sandboxed program may
// read.
func secretive(t *testing.T) string {
	t.Helper()
	dir := folder(t, max(users()[0].uid, users()[0].outside))
	write(t, filepath.Join(dir, "key"), "secret\n")
	return dir
}

// openers put something that leads to $1 instead of a folder that a Sandbox names: one
// of Read within their own, one in a cache that they write to, one to write to, one that
// is read-only.
var openers = map[string]string{
	"a folder of PATH":  `rm -rf tools; ln -s "$1" tools`,
	"a deeper one":      `rm -rf deep; mkdir deep; ln -s "$1" deep/tools`,
	"one above it":      `rm -rf deep; ln -s "$1" deep`,
	"a cache":           `rm -rf cache; ln -s "$1" cache`,
	"what is read-only": `rm -rf closed; ln -s "$1" closed`,
	"a relative link":   `rm -rf tools; ln -s "../$(basename "$1")" tools`,
}

// What a path leads to is resolved before anything ran inside, and never by a link of theirs.
func TestLinksOfTheirsLeadNowhere(t *testing.T) {
	for _, level := range connected() {
		for name, opener := range openers {
			if !short.Has(string(level) + " " + name) {
				continue
			}
			t.Run(string(level)+" "+name, func(t *testing.T) {
				w, out := testConfig(t, level, users()[0]), secretive(t)
				dir := w.Write[0]
				inside(t, w, process.Command{Argv: []string{"mkdir", "-p", "tools", "deep/tools", "cache"}})
				w.Read = []string{filepath.Join(dir, "tools"), filepath.Join(dir, "deep", "tools")}
				w.ReadOnly = []string{filepath.Join(dir, "closed")}
				for _, fixed := range []sandbox.Config{w, w.Fixed()} {
					fixed.ReadOnly = nil // as where the program was killed before it put things back
					inside(t, fixed, process.Command{Argv: []string{"sh", "-c", opener, "sh", out}})
					fixed.ReadOnly = w.ReadOnly
					script := `cat "$1/key" */key deep/tools/key; echo x >>"$1/key"; echo x >"$1/new"; ls "$1"`
					if said, _ := inside(t, fixed, process.Command{Argv: []string{"sh", "-c", script, "sh", out}}); strings.Contains(said, "secret") {
						t.Errorf("they read %q", said)
					}
					if text, err := os.ReadFile(filepath.Join(out, "key")); err != nil || string(text) != "secret\n" {
						t.Errorf("they wrote %q, %v", text, err)
					}
				}
			})
		}
	}
}

// A folder to write to that has become a link of theirs is refused; any other link leads on.
func TestFoldersToWriteToAreNotReplaced(t *testing.T) {
	for _, level := range connected() {
		w, out := testConfig(t, level, users()[0]), secretive(t)
		dir := w.Write[0]
		inside(t, w, process.Command{Argv: []string{"mkdir", "cache"}})
		ours := filepath.Join(folder(t, 0), "link")
		link(t, dir, ours)
		named := w
		named.Write = []string{ours}
		if said, _ := inside(t, named, process.Command{Argv: []string{"sh", "-c", "echo x >cache/x && cat cache/x"}}); said != "x\n" {
			t.Errorf("level %s: by a link of ours: %s", level, said)
		}
		inside(t, w, process.Command{Argv: []string{"sh", "-c", `rm -rf cache; ln -s "$1" cache`, "sh", out}})
		for _, writes := range [][]string{{dir, filepath.Join(dir, "cache")}, {filepath.Join(dir, "cache")}} {
			other := w
			other.Write, other.Theirs = writes, []string{dir}
			_, err := other.Run(new(process.Runner).Run)(t.Context(), process.Command{Argv: []string{"/bin/true"}})
			if err == nil || !strings.Contains(err.Error(), "link that a sandboxed program may have made") {
				t.Errorf("level %s: %v", level, err)
			}
		}
	}
}

// What is apart, and settings that hold a login, cannot be read for the sake of a folder
// that holds them, nor by a link that strays; the rest of a folder with such settings can, also through a link on the way.
func TestWhatIsApartStaysOutside(t *testing.T) {
	for _, level := range connected() {
		w, out := testConfig(t, level, users()[0]), secretive(t)
		prefix, runner := filepath.Join(out, "prefix"), filepath.Join(out, "runner")
		for name, text := range map[string]string{
			"prefix/bin/tool": "tool\n", "prefix/etc/npmrc": "//registry.example.com/:_authToken=secret\n", "prefix/etc/other": "other\n",
			"prefix/conf/settings.xml": "<!-- <password>x</password> -->\n<settings/>\n", "runner/work/x": "secret\n", "runner/tools/x": "tool\n",
			"strays/x": "secret\n", "prefix/lib/x/package.json": "token\n", "kits/1.0/bin/kit": "kit\n", "kits/1.0/conf/settings.xml": "<password>secret</password>\n",
		} {
			place := filepath.Join(out, name)
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, place, text)
		}
		link(t, "bin", filepath.Join(prefix, "link"))
		link(t, "strays", filepath.Join(out, "stray"))
		link(t, "1.0", filepath.Join(out, "kits/current"))
		w.Read, w.Apart = []string{prefix, filepath.Join(prefix, "lib"), filepath.Join(out, "kits"), filepath.Join(out, "kits/current/bin"), runner, filepath.Join(runner, "tools"), filepath.Join(out, "stray")}, []string{filepath.Join(runner, "work")}
		w.Strays = func(link, place string) bool {
			return link == filepath.Join(out, "stray") && place == filepath.Join(out, "strays")
		}
		said, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", `cd "$1"; cat prefix/link/tool prefix/lib/x/package.json prefix/etc/npmrc prefix/etc/other prefix/conf/settings.xml stray/x strays/x kits/current/bin/kit kits/1.0/conf/settings.xml runner/work/x runner/tools/x`, "sh", out}})
		got := slices.DeleteFunc(lines(said), func(line string) bool { return strings.HasPrefix(line, "cat: ") })
		if diff := cmp.Diff([]string{"tool", "token", "other", "<!-- <password>x</password> -->", "<settings/>", "kit", "tool", ""}, got); diff != "" {
			t.Errorf("level %s (-want +got):\n%s\n%s", level, diff, said)
		}
	}
}

// Debian's packages of Java, Maven and PHP keep in /etc what they need to start.
func TestSettingsOfPackagesCanBeRead(t *testing.T) {
	for _, pattern := range []string{"/etc/java-[0-9]*/security/java.security", "/etc/java-[0-9]*/net.properties", "/etc/maven/m2.conf", "/etc/php/*/cli/conf.d/*.ini", "/etc/php/*/mods-available/*.ini"} {
		paths, _ := filepath.Glob(pattern) // it is well formed; not every machine has each
		for _, level := range connected() {
			if said, res := inside(t, testConfig(t, level, users()[0]), process.Command{Argv: append([]string{"cat", "/etc/passwd"}, paths...)}); res.Exit != 0 {
				t.Errorf("level %s: %s: %s", level, pattern, said[max(0, len(said)-200):])
			}
		}
	}
}

// A runner that is installed below a folder of the whole machine stays outside with all that
// lies in it, and the rest of that folder can be read.
func TestARunnerInASharedFolderStaysOutside(t *testing.T) {
	for _, level := range connected() {
		w, opt := testConfig(t, level, users()[0]), secretive(t)
		t.Cleanup(sandbox.Share(opt))
		for _, name := range []string{"tool/bin/tool", "runner/.credentials", "runner/_work/other/.git/config", "runner/_work/shop/shop/f", "runner/_work/_tool/node"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(opt, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(opt, name), name+"\n")
		}
		work := filepath.Join(opt, "runner", "_work")
		w.Read, w.Apart = []string{opt, filepath.Join(work, "_tool")}, []string{filepath.Join(work, "shop", "shop")}
		said, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", `cd "$1"; cat tool/bin/tool runner/.credentials runner/_work/*/.git/config runner/_work/shop/shop/f runner/_work/other/.git/config runner/_work/_tool/node`, "sh", opt}})
		got := slices.DeleteFunc(lines(said), func(line string) bool { return strings.HasPrefix(line, "cat: ") })
		if diff := cmp.Diff([]string{"tool/bin/tool", "runner/_work/_tool/node", ""}, got); diff != "" {
			t.Errorf("level %s (-want +got):\n%s\n%s", level, diff, said)
		}
	}
}

// Files of the machine are replaced at any time, as useradd replaces /etc/group: a command
// that starts just then starts, and reads a whole file or none.
func TestAFileMayBeReplacedWhileACommandStarts(t *testing.T) {
	for _, level := range connected() {
		w, out := testConfig(t, level, users()[0]), secretive(t)
		file := filepath.Join(out, "group")
		write(t, file, "whole\n")
		w.Read = []string{file}
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if err := errors.Join(os.WriteFile(file+".new", []byte("whole\n"), 0o644), os.Rename(file+".new", file)); err != nil {
					stopped <- err
					return
				}
			}
		}()
		for range 20 {
			if said, r := inside(t, w, process.Command{Argv: []string{"cat", file}}); said != "whole\n" && !strings.Contains(said, "cat: ") {
				t.Errorf("level %s: exit %d: %s", level, r.Exit, said)
			}
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	}
}

// gitFolder returns the Guard of a git folder, in short.
func gitFolder(w sandbox.Config) putback.Guard {
	return putback.Guard{Dir: filepath.Join(w.Write[0], ".git"), But: []string{"objects", "refs", "logs", "HEAD", "index", "*_MSG"}}
}

func TestGuardedFoldersChangeByWhatIsNamed(t *testing.T) {
	for name, script := range map[string]string{
		"half done":         "mkdir .git/sequencer; echo evil >.git/sequencer/opts",
		"another's":         "echo ../evil >.git/commondir",
		"large":             "head -c 1000 /dev/zero >>.git/large",
		"a link":            "rm -f .git/logs/x; mkdir -p .git/logs; ln -s /etc/passwd .git/logs/x",
		"a link that stood": "ln -sfn /etc/passwd .git/refs/ours",
		"a pipe":            "rm -f .git/HEAD; mkfifo .git/HEAD",
		"far down":          "d=.git/refs; for i in $(seq 300); do d=$d/x; done; mkdir -p $d",
		"no folder":         "rm -rf .git; echo 'gitdir: evil' >.git",
		"a link instead":    "mv .git old; ln -s old .git",
	} {
		for _, level := range here(sandbox.Namespace, sandbox.Notify) {
			if !short.Has(string(level) + " " + name) {
				continue
			}
			w, mended := repository(t, level)
			w.ReadOnly, w.Guards = nil, []putback.Guard{gitFolder(w)}
			link(t, "heads", filepath.Join(w.Write[0], ".git", "refs", "ours"))
			inside(t, w, process.Command{Argv: []string{"sh", "-c", "echo x >.git/X_MSG; echo y >.git/HEAD"}})
			if len(*mended) > 0 {
				t.Errorf("%s at level %s, what is named: %q", name, level, *mended)
			}
			kept := w // what of it is not theirs, as state sees it
			for _, of := range []string{"config", "hooks", "description", "info", "sequencer", "commondir", "large", "refs/ours", "logs/x"} {
				kept.ReadOnly = append(kept.ReadOnly, filepath.Join(w.Write[0], ".git", of))
			}
			before := state(t, kept)
			inside(t, w, process.Command{Argv: []string{"sh", "-c", script + "; true"}})
			delete(before, filepath.Join(w.Write[0], ".git", "refs", "ours")) // one that leads elsewhere now is removed
			after := state(t, kept)
			delete(after, filepath.Join(w.Write[0], ".git", "refs", "ours"))
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("%s at level %s: it changed (-before +after):\n%s", name, level, diff)
			}
			mounted := name == "no folder" && level == sandbox.Namespace // it cannot be removed
			if len(*mended) == 0 && !mounted {
				t.Errorf("%s at level %s: there was no report", name, level)
			}
			if to, err := os.Readlink(filepath.Join(w.Write[0], ".git", "refs", "ours")); err == nil && to != "heads" {
				t.Errorf("%s at level %s: a link leads to %s", name, level, to)
			}
		}
	}
}

// Of what is too large to be held it is known that it changed.
func TestWhatIsTooLargeToBePutBackIsTold(t *testing.T) {
	w, _ := repository(t, sandbox.Notify)
	w.Guards = []putback.Guard{gitFolder(w)}
	inside(t, w, process.Command{Argv: []string{"true"}})
	write(t, filepath.Join(w.Write[0], ".git", "large"), strings.Repeat("x", 17<<20))
	inside(t, w, process.Command{Argv: []string{"sh", "-c", "head -c 1 .git/large"}})
	c := process.Command{Argv: []string{"sh", "-c", "echo y | dd of=.git/large conv=notrunc"}, Dir: w.Write[0], Env: []string{"PATH=/usr/bin:/bin"}}
	if _, err := w.Run(new(process.Runner).Run)(t.Context(), c); !errors.Is(err, putback.ErrNotPutBack) {
		t.Errorf("%v", err)
	}
}

// A folder that is to be empty is so where there are mounts: what lies there is neither seen
// nor changed by those inside. A file in its place stays what it is.
func TestEmptyFoldersAreTheirOwn(t *testing.T) {
	for _, level := range here(sandbox.Namespace, sandbox.Notify) {
		w := testConfig(t, level, users()[0])
		temp, file := filepath.Join(w.Write[0], "temp"), filepath.Join(w.Write[0], "file")
		inside(t, w, process.Command{Argv: []string{"sh", "-c", "mkdir temp; echo theirs >temp/x; echo theirs >file"}})
		w.Empty, w.ReadOnly = []string{temp, file, filepath.Join(w.Write[0], "none")}, []string{temp}
		said, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", "ls temp; echo evil >temp/x; echo evil >temp/y; cat temp/x file"}})
		want := "evil\ntheirs\n"
		if level == sandbox.Notify {
			want = "x\n" + want
		}
		if said != want {
			t.Errorf("level %s: inside %q, want %q", level, said, want)
		}
		left, err := os.ReadDir(temp)
		if got := read(t, filepath.Join(temp, "x")); got != "theirs\n" || len(left) != 1 || err != nil {
			t.Errorf("level %s: left %q in %v, %v", level, got, left, err)
		}
	}
}
