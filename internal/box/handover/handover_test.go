package handover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// lab has a trusted repository and an agent's tree.
type lab struct {
	*testing.T
	trusted *git.Trusted
	tree    *git.Tree
	base    string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	origin := t.TempDir()
	l := &lab{T: t}
	gittest.Git(l.T, origin, "init", "-q", "-b", "main")
	for name, text := range map[string]string{
		"README.md": "# a project\n", "ci/build.yml": "on: push\n", "in/LOCKED.md": "x\n", ".gitattributes": "*.png binary\n",
		"old.bin": pointer + "oid sha256:a1\nsize 9\n",
	} {
		gittest.Write(t, filepath.Join(origin, name), text)
	}
	gittest.Git(l.T, origin, "add", "-A")
	gittest.Git(l.T, origin, "commit", "-q", "-m", "begin")
	l.base = gittest.Git(l.T, origin, "rev-parse", "HEAD")
	g := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	var err error
	l.trusted, err = remote.Repository{URL: origin}.Clone(t.Context(), g, filepath.Join(t.TempDir(), "trusted.git"), remote.Branches{Base: "main"})
	if err == nil {
		l.tree, err = l.trusted.Clone(t.Context(), git.CloneSpec{Dir: filepath.Join(t.TempDir(), "tree"), Branch: "work", SHA: l.base})
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// git runs git in the agent's tree.
func (l *lab) git(args ...string) {
	l.Helper()
	gittest.Git(l.T, l.tree.Dir, args...)
}

// commit commits files as the agent.
func (l *lab) commit(message string, files map[string]string) {
	l.Helper()
	for name, text := range files {
		gittest.Write(l.T, filepath.Join(l.tree.Dir, name), text)
	}
	l.git("add", "-A", "-f")
	l.git("commit", "-q", "-m", message)
}

// locked names protected files.
func locked(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%03d/LOCKED.md", i))
	}
	return names
}

// mergeOften makes six merges that leave out some files of a side branch.
func (l *lab) mergeOften(name string, files int) {
	l.Helper()
	l.git("checkout", "-q", "-b", "side")
	left := map[string]string{}
	for i := range files {
		left[fmt.Sprintf(name, i)] = "x"
	}
	l.commit("side", left)
	l.git("checkout", "-q", "work")
	for i := range 6 {
		l.commit("one", map[string]string{"a.txt": fmt.Sprint(i)})
		l.git("merge", "-q", "--no-ff", "-s", "ours", "-m", "merge", "side")
		l.git("checkout", "-q", "side")
		l.commit("more", map[string]string{fmt.Sprintf("side-%d.txt", i): "x"})
		l.git("checkout", "-q", "work")
	}
}

func (l *lab) terms() handover.Terms {
	return handover.Terms{
		Base: l.base, Last: l.base, Protect: []string{"ci/**", "**/LOCKED.md"},
		Authorship: handover.Authorship{Since: time.Unix(1_700_000_000, 0), Trailers: []string{"Ralph-Run: r"}},
	}
}

const pointer = "version https://git-lfs.github.com/spec/v1\n"

// Take accepts, rewrites or refuses commits by their content.
func TestTake(t *testing.T) {
	for name, test := range map[string]struct {
		agent   func(l *lab)
		terms   func(*handover.Terms)
		files   []string // that were taken in
		dropped []string
		refused string // begins the first finding
	}{
		"nothing": {agent: func(*lab) {}},
		"a file where a folder with a protected file was": {
			agent: func(l *lab) {
				gittest.Git(l.T, l.tree.Dir, "rm", "-q", "-r", "in")
				l.commit("unlock", map[string]string{"in": "x\n", "a.txt": "a\n"})
			},
			files:   []string{"a.txt"},
			dropped: []string{"in", "in/LOCKED.md"},
		},
		"many protected files": {
			agent: func(l *lab) {
				all := map[string]string{"a.txt": "a\n"}
				for _, name := range locked(120) {
					all[name] = "x\n"
				}
				l.commit("lock", all)
			},
			files:   []string{"a.txt"},
			dropped: locked(100), // of 120
		},
		"a path of many folders": {
			agent:   func(l *lab) { l.commit("dig", map[string]string{strings.Repeat("a/", 101) + "b": "b\n"}) },
			refused: "it lies more than 100 folders deep",
		},
		"many changes in several commits": {
			agent: func(l *lab) {
				l.commit("one", map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
				l.commit("two", map[string]string{"a.txt": "b\n", "b.txt": "a\n"})
			},
			terms:   func(terms *handover.Terms) { terms.MaxChanges = 3 },
			refused: "the commits up to ",
		},
		"merges that differ much from their parents": {
			agent:   func(l *lab) { l.mergeOften("many-%d.txt", 24) },
			terms:   func(terms *handover.Terms) { terms.MaxChanges = 36 },
			refused: "the commits up to ",
		},
		"merges that differ from their parents in long paths": {
			agent:   func(l *lab) { l.mergeOften(strings.Repeat(strings.Repeat("n", 250)+"/", 15)+"%d.txt", 2) },
			terms:   func(terms *handover.Terms) { terms.MaxChanges = 36 },
			refused: "the commits up to ",
		},
		"much to read in several commits": {
			agent: func(l *lab) {
				l.commit("one", map[string]string{"a.txt": strings.Repeat("a", 1<<20)})
				l.commit("two", map[string]string{"a.txt": strings.Repeat("b", 1<<20)})
			},
			terms: func(terms *handover.Terms) {
				terms.MaxRead, terms.Secret = 1<<20, func([]byte) bool { return false }
			},
			refused: "the files of these commits hold more than 1 MiB together",
		},
		"a link with the content of an earlier file": {
			agent: func(l *lab) {
				l.commit("one", map[string]string{"a.txt": "/etc/passwd"})
				must.Do(l, os.Symlink("/etc/passwd", filepath.Join(l.tree.Dir, "b")))
				l.commit("two", nil)
			},
			terms:   func(terms *handover.Terms) { terms.Secret = func([]byte) bool { return false } },
			refused: "the link leads out of the tree: it is absolute",
		},
		"commits that take too long to inspect": {
			agent:   func(l *lab) { l.commit("one", map[string]string{"a.txt": "a\n"}) },
			terms:   func(terms *handover.Terms) { terms.Total = time.Nanosecond },
			refused: "the commits could not be inspected within 1ns",
		},
		"a secret in a message, in parts that cleaning joins": {
			agent: func(l *lab) { l.commit("add s3\u200bcret", map[string]string{"a.txt": "a\n"}) },
			terms: func(terms *handover.Terms) {
				terms.Secret = func(text []byte) bool { return strings.Contains(string(text), "s3cret") }
			},
			refused: "its message or author contains a secret of this job",
		},
		"new content in Git LFS": {
			agent:   func(l *lab) { l.commit("add", map[string]string{"new.bin": pointer + "oid sha256:b2\nsize 9\n"}) },
			refused: "its content would be in Git LFS",
		},
		"a pointer with an extension": {
			agent: func(l *lab) {
				l.commit("add", map[string]string{"new.bin": "\u00a0\vext-0-a sha256:a1\n" + pointer + "oid sha256:b2\nsize 9\n"})
			},
			refused: "its content would be in Git LFS",
		},
		"an example of a pointer": {
			agent: func(l *lab) {
				l.commit("add", map[string]string{"a.txt": "A pointer:\n```\n" + pointer + "oid sha256:b2\nsize 9\n```\n"})
			},
			files: []string{"a.txt"},
		},
		"a file of Git LFS that moved": {
			agent: func(l *lab) {
				l.git("mv", "old.bin", "moved.bin")
				l.commit("move", nil)
			},
			files: []string{"moved.bin", "old.bin"},
		},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			test.agent(l)
			terms := l.terms()
			if test.terms != nil {
				test.terms(&terms)
			}
			got := must.Get(handover.Take(t.Context(), l.trusted, l.tree, nil, terms))(t)
			why := ""
			if len(got.Refused) > 0 {
				why = got.Refused[0].Why
			}
			if !strings.HasPrefix(why, test.refused) || (why == "") != (test.refused == "") || why != "" && got.To != l.base {
				t.Errorf("refused %q and stands at %s, want %q", why, got.To, test.refused)
			}
			if diff := cmp.Diff([][]string{test.files, test.dropped}, [][]string{got.Files, got.Dropped}); diff != "" {
				t.Errorf("files and what was dropped (-want +got):\n%s", diff)
			}
		})
	}
}

// Guarded names the changed protected files, deleted ones too.
func TestGuarded(t *testing.T) {
	l := newLab(t)
	l.git("rm", "-q", "ci/build.yml")
	l.commit("change", map[string]string{"a.txt": "a\n", "docs/LOCKED.md": "x\n"})
	terms := l.terms()
	terms.Protect = nil
	taken := must.Get(handover.Take(t.Context(), l.trusted, l.tree, nil, terms))(t)
	got, err := handover.Guarded(t.Context(), l.trusted, git.Span{From: l.base, To: taken.To}, l.terms().Protect)
	if diff := cmp.Diff([]string{"ci/build.yml", "docs/LOCKED.md"}, got); diff != "" || err != nil {
		t.Errorf("Guarded: %v (-want +got):\n%s", err, diff)
	}
	if _, err := handover.Guarded(t.Context(), l.trusted, git.Span{From: l.base, To: taken.To}, []string{"a["}); err == nil {
		t.Error("a malformed glob is taken")
	}
}

// The target of a protected link is protected too, unless it is a Markdown file.
func TestWhatProtectedLinksLeadTo(t *testing.T) {
	l := newLab(t)
	for at, to := range map[string]string{"CLAUDE.md": "text/ai.md", ".husky": "tools/hooks", "tasks.json": "dev/tasks.json", "dev/tasks.json": "../data/tasks.json", "free": "src"} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(l.tree.Dir, at)), 0o755))
		must.Do(t, os.Symlink(to, filepath.Join(l.tree.Dir, at)))
	}
	l.commit("links", map[string]string{"text/ai.md": "Be kind.\n", "data/tasks.json": "{}\n", "tools/hooks/pre-commit": "true\n", "src/a.txt": "a\n"})
	terms := l.terms()
	terms.Protect = nil
	linked := must.Get(handover.Take(t.Context(), l.trusted, l.tree, nil, terms))(t)
	globs := []string{"**/CLAUDE.md", ".husky/**", "tasks.json"}
	l.commit("change", map[string]string{"text/ai.md": "Obey.\n", "data/tasks.json": "[]\n", "tools/hooks/pre-commit": "evil\n", "tools/hooks/new": "evil\n", "src/a.txt": "b\n"})
	terms.Last, terms.Protect = linked.To, globs
	got := must.Get(handover.Take(t.Context(), l.trusted, l.tree, nil, terms))(t)
	isProtected, err := handover.Protected(t.Context(), l.trusted, linked.To, globs)
	if err != nil || !isProtected("tools/hooks/new") || isProtected("text/ai.md") {
		t.Errorf("Protected follows the links otherwise: %v", err)
	}
	slices.Sort(got.Dropped)
	if diff := cmp.Diff([]string{"data/tasks.json", "tools/hooks/new", "tools/hooks/pre-commit"}, got.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"src/a.txt", "text/ai.md"}, got.Files); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// What the globs protect, or what is always protected, is known by a path alone, in any spelling.
func TestProtectedPaths(t *testing.T) {
	isProtected := must.Get(handover.Protected(t.Context(), nil, "", []string{".github/**", "docs/*.md", "tools/hooks/**"}))(t)
	for name, want := range map[string]bool{
		"tools": true, "tools/x": false, // a link in place of tools would have hooks of its own
		".github/workflows/ci.yml": true, ".GitHub/x": true, "a/.gitattributes": true, ".gitmodules": true,
		"docs/a.md": true, "docs/a/b.md": false, "src/main.go": false,
	} {
		if got := isProtected(name); got != want {
			t.Errorf("%s is protected: %t, want %t", name, got, want)
		}
	}
	if _, err := handover.Protected(t.Context(), nil, "", []string{"["}); err == nil {
		t.Error("a malformed glob is taken")
	}
}
