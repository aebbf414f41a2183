package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
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
	"one above it":     `rm -rf deep; ln -s "$1" deep`,
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

// What is apart, and settings that hold a login, cannot be read for the sake of a folder that holds them; the rest of
// such a folder can, also through a link on the way. A runner below a folder of the whole machine stays outside with all
// that lies in it.
func TestWhatIsApartStaysOutside(t *testing.T) {
	for _, level := range connected() {
		for name, test := range map[string]struct {
			files, links      map[string]string
			read, apart, cats []string
			shared            bool // as /opt is
			want              []string
		}{
			"tools": {
				files: map[string]string{
					"prefix/bin/tool": "tool\n", "prefix/etc/npmrc": "//registry.example.com/:_authToken=secret\n", "prefix/etc/other": "other\n",
					"prefix/conf/settings.xml": "<!-- <password>x</password> -->\n<settings/>\n", "runner/work/x": "secret\n", "runner/tools/x": "tool\n",
					"prefix/lib/x/package.json": "token\n", "kits/1.0/bin/kit": "kit\n", "kits/1.0/conf/settings.xml": "<password>secret</password>\n",
				},
				links: map[string]string{"prefix/link": "bin", "kits/current": "1.0"},
				read:  []string{"prefix", "prefix/lib", "kits", "kits/current/bin", "runner", "runner/tools"}, apart: []string{"runner/work"},
				cats: []string{
					"prefix/link/tool", "prefix/lib/x/package.json", "prefix/etc/npmrc", "prefix/etc/other", "prefix/conf/settings.xml",
					"kits/current/bin/kit", "kits/1.0/conf/settings.xml", "runner/work/x", "runner/tools/x",
				},
				want: []string{"tool", "token", "other", "<!-- <password>x</password> -->", "<settings/>", "kit", "tool", ""},
			},
			"a runner": {
				files: map[string]string{
					"tool/bin/tool": "tool\n", "runner/.credentials": "secret\n", "runner/_work/other/.git/config": "secret\n",
					"runner/_work/shop/shop/f": "secret\n", "runner/_work/_tool/node": "node\n",
				},
				read: []string{"", "runner/_work/_tool"}, apart: []string{"runner/_work/shop/shop"}, shared: true,
				cats: []string{
					"tool/bin/tool", "runner/.credentials", "runner/_work/other/.git/config", "runner/_work/shop/shop/f", "runner/_work/_tool/node",
				},
				want: []string{"tool", "node", ""},
			},
		} {
			w, out := testConfig(t, level, users()[0]), secretive(t)
			if test.shared {
				t.Cleanup(sandbox.Share(out))
			}
			lay(t, out, test.files, test.links)
			w.Read, w.Apart = within(out, test.read), within(out, test.apart)
			shell := []string{"sh", "-c", `cd "$1"; shift; cat "$@"`, "sh", out}
			said, _ := inside(t, w, process.Command{Argv: append(shell, test.cats...)})
			got := slices.DeleteFunc(lines(said), func(line string) bool { return strings.HasPrefix(line, "cat: ") })
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("level %s, %s (-want +got):\n%s\n%s", level, name, diff, said)
			}
		}
	}
}

// lay makes files and links in a folder.
func lay(t *testing.T, dir string, files, links map[string]string) {
	t.Helper()
	for name, text := range files {
		place := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(place), 0o755))
		write(t, place, text)
	}
	for name, to := range links {
		link(t, to, filepath.Join(dir, name))
	}
}

func within(dir string, names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, filepath.Join(dir, name))
	}
	return all
}
