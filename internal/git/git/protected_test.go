package git_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/run/merging"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// protectedFiles are files that every policy protects: of CI systems, editors and
// git, code owners, and instructions to agents.
var protectedFiles = []string{
	".github/workflows/ci.yml", ".github/CODEOWNERS", ".github/copilot-instructions.md", "CODEOWNERS", "docs/CODEOWNERS",
	"AGENTS.md", "src/AGENTS.md", "CLAUDE.md", "src/deep/CLAUDE.md", "GEMINI.md", ".claude/settings.json", ".codex/config.toml", ".mcp.json",
	"CLAUDE.local.md", "src/.claude/settings.json", "src/.mcp.json", ".gemini/settings.json", ".cursor/rules/x.mdc", "src/opencode.json",
	"action.yml", "src/action.yaml", ".gitlab-ci.yml", "Jenkinsfile", ".devcontainer/devcontainer.json", ".vscode/tasks.json", ".husky/pre-commit", ".lfsconfig",
}

// ways are the ways in which an agent can change a file, each with git commands.
// The change is at the tip, unless another commit reverts it.
var ways = map[string]func(l *lab, path string){
	"written":            func(l *lab, path string) { l.commit("x", map[string]string{path: "evil"}) },
	"deleted":            func(l *lab, path string) { l.commit("x", map[string]string{path: ""}) },
	"in other letters":   func(l *lab, path string) { l.commit("x", map[string]string{strings.ToUpper(path): "evil"}) },
	"made a program":     func(l *lab, path string) { l.staged("update-index", "--chmod=+x", path) },
	"renamed away":       func(l *lab, path string) { l.staged("mv", path, "elsewhere") },
	"renamed to":         func(l *lab, path string) { l.staged("mv", "-f", "README.md", path) },
	"a link":             func(l *lab, path string) { l.entry("120000", l.hash("README.md"), path) },
	"a link above it":    func(l *lab, path string) { l.above(path, "120000", l.hash("src")) },
	"a repository":       func(l *lab, path string) { l.entry("160000", l.base, path) },
	"a repository there": func(l *lab, path string) { l.above(path, "160000", l.base) },
	"a folder": func(l *lab, path string) {
		l.agent("rm", "-q", "--cached", path)
		l.entry("100644", l.hash("evil"), path+"/x")
	},
	"and reverted": func(l *lab, path string) {
		l.commit("x", map[string]string{path: "evil"})
		l.agent("revert", "--no-edit", "HEAD")
	},
	"in mid-history": func(l *lab, path string) {
		l.commit("x", map[string]string{path: "evil"})
		l.commit("y", map[string]string{"more": "1"})
	},
	"by a merge": func(l *lab, path string) {
		l.agent("switch", "-q", "-C", "side")
		l.commit("x", map[string]string{path: "evil"})
		l.agent("switch", "-q", "work")
		l.commit("y", map[string]string{"more": "1"})
		l.agent("merge", "-q", "-m", "merged", "side")
	},
}

// No change of a protected file is accepted: it is dropped and named, or all
// commits are refused.
func TestTakeLetsNoWayToWhatIsProtected(t *testing.T) {
	l := newLab(t)
	terms := l.terms()
	terms.Protect = nil
	files := map[string]string{}
	for _, path := range protectedFiles {
		files[path] = "of the base\n"
	}
	l.commit("the base", files)
	terms.Last = l.take(terms).To
	terms.Protect = policy.ProtectedFiles()
	was := l.in(append([]string{"ls-tree", terms.Last}, protectedFiles...)...)
	for i, way := range slices.Sorted(maps.Keys(ways)) {
		if !short.Has(way) {
			continue
		}
		for _, path := range tried(i) {
			l.agent("reset", "-q", "--hard", terms.Last)
			l.agent("clean", "-q", "-f", "-d")
			ways[way](l, path)
			got := l.take(terms)
			if len(got.Refused) == 0 && !named(got.Dropped, path) {
				t.Errorf("%s %s: there is no finding: %+v", path, way, got)
			}
			if now := l.in(append([]string{"ls-tree", got.To}, protectedFiles...)...); now != was {
				t.Errorf("%s %s: it is now (-was +now):\n%s", path, way, cmp.Diff(was, now))
			}
			for _, commit := range got.Commits {
				if l.in("diff-tree", "-r", "--no-commit-id", "-m", commit.SHA, "--", path, strings.ToUpper(path)) != "" {
					t.Errorf("%s %s: %s changes it", path, way, commit.SHA)
				}
			}
		}
	}
}

// tried returns the files to try a way with: all of them with ATTACK, or else one
// after the other.
func tried(way int) []string {
	if os.Getenv("ATTACK") != "" {
		return protectedFiles
	}
	return protectedFiles[way%len(protectedFiles):][:1]
}

// named reports whether paths contains a path, or one above or below it.
func named(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		p, path := strings.ToLower(p), strings.ToLower(path)
		return p == path || strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/")
	})
}

// staged runs a git command that stages something, and commits that.
func (l *lab) staged(args ...string) {
	l.Helper()
	l.agent(args...)
	l.agent("commit", "-q", "-m", "x")
}

// hash stores a text.
func (l *lab) hash(text string) string {
	l.Helper()
	return sh(l.T, l.tree.Dir, text, "git", "hash-object", "-w", "--stdin")
}

// entry commits a path with a mode, in place of anything there.
func (l *lab) entry(mode, id, path string) {
	l.Helper()
	l.staged("update-index", "--add", "--replace", "--cacheinfo", mode+","+id+","+path)
}

// above commits something in place of the top folder of path.
func (l *lab) above(path, mode, id string) {
	l.Helper()
	top, _, _ := strings.Cut(path, "/")
	l.agent("rm", "-q", "-r", "--cached", top)
	l.entry(mode, id, top)
}

// A base that moved on is merged by ralph alone: an agent could claim to merge it, and leave out what others changed in
// protected files.
func TestTakeRefusesAMergeOfANewerBase(t *testing.T) {
	l := newLab(t)
	l.commit("ours", map[string]string{"a": "1\n"})
	terms := l.terms()
	terms.Last = l.take(terms).To
	l.base = l.grace(l.base, "main", map[string]string{"CODEOWNERS": "* @security\n"})
	l.refetch()
	terms.Base = l.base
	l.agent("reset", "-q", "--hard", terms.Last)
	l.agent("merge", "-q", "-s", "ours", "-m", "merged", l.base)
	if got := l.take(terms); len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Why, "unknown commit") || got.To != terms.Last {
		t.Errorf("Take = %+v, want refused", got)
	}
	made := must(merging.Merge(t.Context(), l.trusted, merging.Commits{Ours: terms.Last, Theirs: l.base}))(t)
	l.agent("reset", "-q", "--hard", made.SHA)
	l.agent("switch", "-q", "-c", "side", l.base)
	l.commit("beside", map[string]string{"b": "2\n"})
	l.agent("switch", "-q", "work")
	l.agent("merge", "-q", "-m", "both", "side")
	terms.Last = made.SHA
	if got := l.take(terms); len(got.Refused) > 0 || got.To == terms.Last {
		t.Errorf("on a base that ralph merged, Take = %+v, want accepted", got)
	}
}

// An agent may change a file whose name it could not have chosen: systemd's units have backslashes.
func TestTakeAcceptsNamesThatAreThere(t *testing.T) {
	l := newLab(t)
	l.base = l.grace(l.base, "main", map[string]string{`srv-my\x2ddata.mount`: "[Mount]\n", "caf\xe9": "1\n"})
	l.refetch()
	l.tree = must(l.trusted.Clone(t.Context(), git.CloneSpec{Dir: t.TempDir(), Branch: "work", SHA: l.base}))(t)
	l.commit("ours", map[string]string{`srv-my\x2ddata.mount`: "[Mount]\nWhat=x\n", "caf\xe9": "2\n"})
	if got := l.take(l.terms()); len(got.Refused) > 0 || got.To == l.base {
		t.Errorf("Take = %+v, want accepted", got)
	}
	l.commit("new", map[string]string{`srv-other\x2ddata.mount`: "[Mount]\n"})
	if got := l.take(l.terms()); len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Why, "backslash") {
		t.Errorf("Take = %+v, want refused", got)
	}
}
