package git_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/merging"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// Accepted objects are complete and readable for others.
func TestTakePlainCommits(t *testing.T) {
	l := newLab(t)
	one := l.commit("one\n\nwhy", map[string]string{"a.txt": "a"})
	two := l.commit("two", map[string]string{"src/main.go": "package main // changed\n", "README.md": ""})
	write(t, filepath.Join(l.tree.Dir, "left.txt"), "uncommitted")
	got := l.take(l.terms())
	want := journal.CommitsTaken{
		From: l.base, To: two, Tree: l.agent("rev-parse", "HEAD^{tree}"), Work: got.Work, Dirty: true,
		Commits: []journal.Commit{{SHA: one, Subject: "one"}, {SHA: two, Subject: "two"}},
		Files:   []string{"README.md", "a.txt", "src/main.go"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Take (-want +got):\n%s", diff)
	}
	if files := l.agent("ls-tree", "-r", "--name-only", got.Work); !strings.Contains(files, "left.txt") {
		t.Errorf("Work holds %q, want left.txt among it", files)
	}
	if at := l.in("rev-parse", "refs/ralph/head"); at != two {
		t.Errorf("refs/ralph/head = %s, want %s", at, two)
	}
	for _, name := range must.Get(filepath.Glob(filepath.Join(l.trusted.Dir, "objects/pack/*")))(t) {
		if mode := must.Get(os.Stat(name))(t).Mode().Perm(); mode != 0o444 {
			t.Errorf("%s has mode %o, want 444: the agent reads it as another user", filepath.Base(name), mode)
		}
	}
	l.in("fsck", "--strict", "--full")
}

func TestTakeGoesOnFromLast(t *testing.T) {
	l := newLab(t)
	terms := l.terms()
	terms.Last = l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	l.agent("switch", "-q", "-c", "side")
	l.commit("side", map[string]string{"b": "2"})
	l.agent("switch", "-q", "work")
	l.commit("two", map[string]string{"c": "3"})
	l.agent("merge", "-q", "-m", "merge", "side")
	got := l.take(terms)
	if got.To != l.agent("rev-parse", "HEAD") || len(got.Commits) != 3 || len(got.Refused) != 0 {
		t.Errorf("Take = %+v, want three commits as they are", got)
	}
	l.agent("reset", "-q", "--hard", "HEAD~1")
	if back := l.take(handover.Terms{Base: l.base, Last: got.To}); back.To != got.To || len(back.Refused) != 0 {
		t.Errorf("after going back Take = %+v, want nothing new", back)
	}
}

// Accepted commits stay: an amended history becomes one commit on top of them.
func TestTakeRewrittenHistory(t *testing.T) {
	l := newLab(t)
	terms := l.terms()
	terms.Last = l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	write(t, filepath.Join(l.tree.Dir, "a"), "2")
	write(t, filepath.Join(l.tree.Dir, ".github/workflows/ci.yml"), "evil")
	l.agent("commit", "-q", "-a", "--amend", "-m", "one, better")
	tip := l.commit("two", map[string]string{"b": "3"})
	got := l.take(terms)
	if len(got.Commits) != 1 || got.Commits[0].Subject != "two" || got.To == tip {
		t.Fatalf("Take = %+v, want one commit made again", got)
	}
	if diff := cmp.Diff([]string{".github/workflows/ci.yml"}, got.Dropped); diff != "" {
		t.Errorf("Dropped (-want +got):\n%s", diff)
	}
	if parent := l.in("rev-parse", got.To+"^"); parent != terms.Last {
		t.Errorf("its parent is %s, want Last", parent)
	}
	if again := l.take(terms); again.To != got.To {
		t.Errorf("taken again To = %s, want %s", again.To, got.To)
	}
	must.Do(t, l.tree.Reset(t.Context(), got.To))
	if status := l.agent("status", "--porcelain"); status != "" || l.agent("rev-parse", "HEAD") != got.To {
		t.Errorf("after Reset the tree is dirty or elsewhere: %q", status)
	}
	terms.Last = got.To
	if after := l.take(terms); after.To != got.To || len(after.Refused) != 0 {
		t.Errorf("after Reset Take = %+v, want nothing new", after)
	}
}

func TestTakeDropsProtected(t *testing.T) {
	for name, c := range map[string]struct {
		commits []map[string]string
		script  []string // more of the agent's git, each line one command
		dropped []string
		kept    []string // subjects
	}{
		"in mid-history, and what follows stays": {
			commits: []map[string]string{{"a": "1"}, {".github/new.yml": "evil"}, {"b": "2"}},
			dropped: []string{".github/new.yml"}, kept: []string{"0", "2"},
		},
		"undone later": {
			commits: []map[string]string{{"CODEOWNERS": "* @evil\n"}, {"CODEOWNERS": "* @owner\n", "a": "1"}},
			dropped: []string{"CODEOWNERS"}, kept: []string{"1"},
		},
		"in other letters": {
			commits: []map[string]string{{".GitHub/workflows/x.yml": "evil", "codeowners": "evil", "a": "1"}},
			dropped: []string{".GitHub/workflows/x.yml", "codeowners"}, kept: []string{"0"},
		},
		"renamed away": {
			commits: []map[string]string{{"a": "1"}},
			script:  []string{"mv .github hidden", "commit -q -m moved"},
			dropped: []string{".github/workflows/ci.yml"}, kept: []string{"0", "moved"},
		},
		"a mode": {
			commits: []map[string]string{{"a": "1"}},
			script:  []string{"update-index --chmod=+x CODEOWNERS", "commit -q -m mode"},
			dropped: []string{"CODEOWNERS"}, kept: []string{"0"},
		},
		"a file where the folder was": {
			commits: []map[string]string{{".github/workflows/ci.yml": "", "a": "1"}, {".github": "evil"}},
			dropped: []string{".github", ".github/workflows/ci.yml"}, kept: []string{"0"},
		},
		"a folder where the file was": {
			commits: []map[string]string{{"CODEOWNERS": "", "a": "1"}, {"CODEOWNERS/x": "evil"}},
			dropped: []string{"CODEOWNERS", "CODEOWNERS/x"}, kept: []string{"0"},
		},
		"another file moved there": {
			commits: []map[string]string{{"a": "1"}},
			script:  []string{"rm -q CODEOWNERS", "mv README.md CODEOWNERS", "commit -q -m moved"},
			dropped: []string{"CODEOWNERS"}, kept: []string{"0", "moved"},
		},
		"attributes": {
			commits: []map[string]string{{"src/.gitattributes": "* -diff", ".gitattributes": "* -diff", "a": "1"}},
			dropped: []string{".gitattributes", "src/.gitattributes"}, kept: []string{"0"},
		},
		"by a merge": {
			commits: []map[string]string{{"a": "1"}},
			script: []string{
				"switch -q -c side", "commit -q --allow-empty -m side", "switch -q work", "commit -q --allow-empty -m here",
				"merge -q --no-ff --no-commit side", "rm -q CODEOWNERS", "commit -q -m merged",
			},
			dropped: []string{"CODEOWNERS"}, kept: []string{"0", "here", "merged", "side"},
		},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			for i, files := range c.commits {
				l.commit(string(rune('0'+i)), files)
			}
			for _, line := range c.script {
				l.agent(strings.Fields(line)...)
			}
			tip := l.agent("rev-parse", "HEAD")
			got := l.take(l.terms())
			if diff := cmp.Diff(c.dropped, got.Dropped); diff != "" {
				t.Errorf("Dropped (-want +got):\n%s", diff)
			}
			var kept []string
			for _, k := range got.Commits {
				kept = append(kept, k.Subject)
			}
			slices.Sort(kept)
			if diff := cmp.Diff(c.kept, kept); diff != "" || len(got.Refused) > 0 {
				t.Errorf("kept (-want +got):\n%s\nrefused: %v", diff, got.Refused)
			}
			for _, p := range []string{".github", "CODEOWNERS", ".gitattributes"} {
				if l.in("rev-parse", got.To+":"+p) != l.in("rev-parse", l.base+":"+p) {
					t.Errorf("%s is not as it was at the base", p)
				}
			}
			if l.has(tip) {
				t.Error("the agent's own commit got into the trusted store")
			}
			l.in("fsck", "--strict", "--full")
			must.Do(t, l.tree.Reset(t.Context(), got.To))
			if s := must.Get(l.tree.Inspect(t.Context()))(t); s.Dirty || l.agent("rev-parse", "HEAD") != got.To {
				t.Error("after Reset the tree is elsewhere or dirty")
			}
		})
	}
}

func TestTakeLimits(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a": "1"})
	l.commit("two", map[string]string{"big": strings.Repeat("no two lines alike\n", 1<<17)})
	l.commit("three", map[string]string{"big": ""})
	for name, c := range map[string]struct {
		change func(*handover.Terms)
		why    string
	}{
		"commits": {func(terms *handover.Terms) { terms.MaxCommits = 2 }, "more than 2 commits"},
		"file":    {func(terms *handover.Terms) { terms.MaxFile = 1 << 20 }, "larger than 1 MiB"},
		"pack":    {func(terms *handover.Terms) { terms.MaxPack = 1 << 10 }, "new objects are larger"},
	} {
		t.Run(name, func(t *testing.T) {
			l.T = t
			terms := l.terms()
			c.change(&terms)
			got := l.take(terms)
			if len(got.Refused) == 0 || !strings.Contains(got.Refused[0].Why, c.why) || got.To != l.base {
				t.Errorf("Take = %+v, want refused for %q", got, c.why)
			}
		})
	}
	l.T = t
	if got := l.take(l.terms()); len(got.Commits) != 3 {
		t.Errorf("within the limits Take = %+v", got)
	}
}

// A run that ends before or after any of these steps can be resumed.
func TestTakeCutOff(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a": "1", "CODEOWNERS": "evil"})
	l.commit("two", map[string]string{"b": "2"})
	for _, after := range []bool{false, true} {
		for _, command := range []string{"index-pack", "write-tree", "hash-object", "pack-objects"} {
			cut := l.git
			cut.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
				if c.Argv[1] != command || c.Dir == l.tree.Dir {
					return l.seen.run(ctx, c)
				}
				if after {
					l.seen.run(ctx, c)
				}
				return process.Result{}, context.Canceled
			}
			trusted := must.Get(cut.Open(l.trusted.Dir))(t)
			if got, err := handover.Take(t.Context(), trusted, l.tree, nil, l.terms()); !errors.Is(err, context.Canceled) || got.To != l.base {
				t.Errorf("cut off at %s Take = %+v, %v", command, got, err)
			}
		}
	}
	for _, left := range []string{
		"quarantine/objects/pack/tmp_pack_x", "quarantine/pack", "quarantine/index.lock", "refs/ralph/head.lock",
	} {
		write(t, filepath.Join(l.trusted.Dir, left), "by a killed git")
	}
	got := l.take(l.terms())
	if len(got.Commits) != 2 || len(got.Dropped) != 1 || len(got.Refused) != 0 {
		t.Errorf("in the end Take = %+v", got)
	}
	l.in("fsck", "--strict", "--full")
}

// A person's later change of a protected file on the branch stays. A merge may not
// bring back an older version, except the base's.
func TestTakeKeepsWhatPeopleProtected(t *testing.T) {
	l := newLab(t)
	terms := l.terms()
	l.commit("a person's", map[string]string{"CODEOWNERS": "* @first\n"})
	older := l.agent("rev-parse", "HEAD")
	l.commit("a person's too", map[string]string{"CODEOWNERS": "* @second\n"})
	open := l.terms()
	open.Protect = nil
	terms.Last = l.take(open).To
	l.commit("work", map[string]string{"a": "1"})
	if got := l.take(terms); len(got.Commits) != 1 || got.Dropped != nil {
		t.Errorf("Take = %+v, want it as it is", got)
	}
	for _, c := range []struct {
		with    string
		refused bool
	}{{older, true}, {l.base, false}} {
		l.agent("reset", "-q", "--hard", terms.Last)
		tree := l.agent("rev-parse", c.with+"^{tree}")
		l.agent("reset", "-q", "--hard", l.agent("commit-tree", tree, "-p", terms.Last, "-p", c.with, "-m", "merge"))
		if got := l.take(terms); (len(got.Refused) > 0) != c.refused {
			t.Errorf("merged with %s Take = %+v", c.with, got)
		}
	}
}

// A pack with objects that do not belong to its tip is accepted, but without these
// objects.
func TestTakeLeavesTheRest(t *testing.T) {
	l := newLab(t)
	extra := l.hash("not asked for")
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		if c.Argv[1] == "pack-objects" {
			c.Stdin = io.MultiReader(c.Stdin, strings.NewReader(extra+"\n"))
		}
		return l.seen.run(ctx, c)
	}
	to := l.commit("one", map[string]string{"a": "1"})
	if got := l.take(l.terms()); got.To != to || !l.has(to) {
		t.Errorf("Take = %+v, want the commit", got)
	}
	if l.has(extra) {
		t.Error("an unexamined commit was taken in")
	}
}

// Commits with a secret in any place are refused, and the refusal does not contain
// the secret.
func TestTakeRefusesSecrets(t *testing.T) {
	const secret = "the-secret"
	for name, files := range map[string]map[string]string{
		"in a file":        {"a": "x\n" + secret + "\n"},
		"in a name":        {"x-" + secret + ".txt": "x"},
		"in a folder":      {secret + "/a": "x"},
		"in a large file":  {"a": strings.Repeat("x\n", 1<<20) + secret},
		"in a message":     nil,
		"in a link":        nil,
		"in mid-history":   nil,
		"by who made it":   nil,
		"nowhere any more": {"a": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			switch name {
			case "in a message":
				l.commit("x\n\n"+secret, map[string]string{"a": "1"})
			case "in a link":
				link(secret)(l)
			case "in mid-history":
				l.commit("x", map[string]string{"a": secret})
				l.commit("y", map[string]string{"a": ""})
			case "by who made it":
				l.agent("-c", "user.name=x", "commit", "-q", "--allow-empty", "-m", "x", "--author="+secret+" <a@example.com>")
			default:
				l.commit("x", files)
			}
			terms := l.terms()
			terms.Secret = func(text []byte) bool { return bytes.Contains(text, []byte(secret)) }
			got := l.take(terms)
			if refused := len(got.Refused) > 0; refused == (name == "nowhere any more") {
				t.Errorf("Take = %+v", got)
			}
			for _, finding := range got.Refused {
				if strings.Contains(finding.Path+finding.Why, secret) {
					t.Errorf("the refusal says it: %+v", finding)
				}
			}
		})
	}
}

// hash stores a text.
func (l *lab) hash(text string) string {
	l.Helper()
	return sh(l.T, l.tree.Dir, text, "git", "hash-object", "-w", "--stdin")
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
	made := must.Get(merging.Merge(t.Context(), l.trusted, merging.Commits{Ours: terms.Last, Theirs: l.base}))(t)
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
	l.tree = must.Get(l.trusted.Clone(t.Context(), git.CloneSpec{Dir: t.TempDir(), Branch: "work", SHA: l.base}))(t)
	l.commit("ours", map[string]string{`srv-my\x2ddata.mount`: "[Mount]\nWhat=x\n", "caf\xe9": "2\n"})
	if got := l.take(l.terms()); len(got.Refused) > 0 || got.To == l.base {
		t.Errorf("Take = %+v, want accepted", got)
	}
	l.commit("new", map[string]string{`srv-other\x2ddata.mount`: "[Mount]\n"})
	if got := l.take(l.terms()); len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Why, "backslash") {
		t.Errorf("Take = %+v, want refused", got)
	}
}
