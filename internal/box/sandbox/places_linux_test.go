package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
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
// of Read within their own, one in a cache that they write to, one to write to.
var openers = map[string]string{
	"a folder of PATH": `rm -rf tools; ln -s "$1" tools`,
	"a deeper one":     `rm -rf deep; mkdir deep; ln -s "$1" deep/tools`,
	"one above it":     `rm -rf deep; ln -s "$1" deep`,
	"a cache":          `rm -rf cache; ln -s "$1" cache`,
	"a relative link":  `rm -rf tools; ln -s "../$(basename "$1")" tools`,
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
				for _, fixed := range []sandbox.Config{w, w.Fixed()} {
					inside(t, fixed, process.Command{Argv: []string{"sh", "-c", opener, "sh", out}})
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
// that holds them; the rest of a folder with such settings can, also through a link on the way.
func TestWhatIsApartStaysOutside(t *testing.T) {
	for _, level := range connected() {
		w, out := testConfig(t, level, users()[0]), secretive(t)
		prefix, runner := filepath.Join(out, "prefix"), filepath.Join(out, "runner")
		for name, text := range map[string]string{
			"prefix/bin/tool": "tool\n", "prefix/etc/npmrc": "//registry.example.com/:_authToken=secret\n", "prefix/etc/other": "other\n",
			"prefix/conf/settings.xml": "<!-- <password>x</password> -->\n<settings/>\n", "runner/work/x": "secret\n", "runner/tools/x": "tool\n",
			"prefix/lib/x/package.json": "token\n", "kits/1.0/bin/kit": "kit\n", "kits/1.0/conf/settings.xml": "<password>secret</password>\n",
		} {
			place := filepath.Join(out, name)
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, place, text)
		}
		link(t, "bin", filepath.Join(prefix, "link"))
		link(t, "1.0", filepath.Join(out, "kits/current"))
		w.Read, w.Apart = []string{prefix, filepath.Join(prefix, "lib"), filepath.Join(out, "kits"), filepath.Join(out, "kits/current/bin"), runner, filepath.Join(runner, "tools")}, []string{filepath.Join(runner, "work")}
		said, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", `cd "$1"; cat prefix/link/tool prefix/lib/x/package.json prefix/etc/npmrc prefix/etc/other prefix/conf/settings.xml kits/current/bin/kit kits/1.0/conf/settings.xml runner/work/x runner/tools/x`, "sh", out}})
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
