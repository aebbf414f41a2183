package git_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// A refusal is complete: nothing gets into the trusted repository.
func TestTakeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		do  func(*lab)
		why string
	}{
		"a link to an absolute path": {link("/etc/passwd"), "leads out of the tree"},
		"a link through another":     {link("y/../../z"), "leads out of the tree"},
		"a link into .git":           {link("./.GIT/hooks"), "git folder"},
		"a repository within": {func(l *lab) {
			l.agent("update-index", "--add", "--cacheinfo", "160000,"+l.base+",sub")
			l.agent("commit", "-q", "-m", "sub")
		}, "repository within"},
		"submodules": {func(l *lab) {
			l.commit("x", map[string]string{".gitmodules": "[submodule \"s\"]\n\tpath = s\n\turl = https://example.com/s\n"})
		}, "submodules"},
		"only in mid-history": {func(l *lab) {
			link("/etc")(l)
			l.commit("gone", map[string]string{"x": ""})
			l.commit("more", map[string]string{"a": "1"})
		}, "leads out of the tree"},
		"a name with an escape":  {func(l *lab) { l.commit("x", map[string]string{"a\x1b[31m": "1"}) }, "control characters"},
		"a name that is no text": {func(l *lab) { l.commit("x", map[string]string{"a\xff": "1"}) }, "UTF-8"},
		"a backslash":            {func(l *lab) { l.commit("x", map[string]string{`..\a`: "1"}) }, "backslash"},
		"a root by merge": {func(l *lab) {
			l.agent("switch", "-q", "--orphan", "other")
			l.commit("root", map[string]string{"a": "1"})
			l.agent("switch", "-q", "work")
			l.agent("merge", "-q", "--allow-unrelated-histories", "-m", "m", "other")
		}, "no parent"},
		"a long message": {func(l *lab) { l.commit(strings.Repeat("long ", 20000), nil) }, "longer than 64 KiB"},
		"no author": {func(l *lab) {
			plant(l, "commit", strings.Replace(commitText(l), "author "+program, "author <", 1))
		}, "are corrupt"},
		"a second tree for those who look": {func(l *lab) {
			own := commitText(l)
			l.commit("x", map[string]string{"CODEOWNERS": "* @agent\n"})
			plant(l, "commit", withHeader(commitText(l), strings.SplitN(own, "\n", 2)[0]))
		}, "commit is malformed"},
		"a parent too late":         {func(l *lab) { plant(l, "commit", withHeader(commitText(l), "parent "+l.base)) }, "commit is malformed"},
		"a tree with ..":            {func(l *lab) { plantTree(l, "100644", "..") }, "are corrupt"},
		"a tree with a path":        {func(l *lab) { plantTree(l, "100644", "a/b") }, "are corrupt"},
		"a tree with all twice":     {func(l *lab) { plantTree(l, "100644", "a", "a") }, "are corrupt"},
		"a tree with half an entry": {func(l *lab) { plantRoot(l, "100644 a\x00half") }, "does not hand over"},
		"a folder that is missing":  {func(l *lab) { plantRoot(l, "40000 a\x00"+strings.Repeat("x", 20)) }, "does not hand over"},
		"no repository": {func(l *lab) {
			must.Do(l, os.RemoveAll(filepath.Join(l.tree.Dir, ".git")))
		}, "cannot be read"},
		"a pipe for a repository": {func(l *lab) {
			must.Do(l, os.RemoveAll(filepath.Join(l.tree.Dir, ".git")))
			must.Do(l, syscall.Mkfifo(filepath.Join(l.tree.Dir, ".git"), 0o666))
		}, "cannot be read"},
		"another repository": {func(l *lab) {
			must.Do(l, os.RemoveAll(filepath.Join(l.tree.Dir, ".git")))
			l.agent("init", "-q")
			l.commit("root", map[string]string{"a": "1"})
		}, "does not hand over"},
		"a pack of lies": {func(l *lab) {
			l.commit("x", map[string]string{"a": "1"})
			l.tree.Run = lying(l, "pack-objects", "PACK\x00\x00\x00\x02\xff\xff\xff\xff rubbish")
		}, "are corrupt"},
		"a HEAD of lies": {func(l *lab) { l.tree.Run = lying(l, "rev-parse", "--upload-pack=x\n") }, "cannot be read"},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.do(l)
			got := l.take(l.terms())
			if len(got.Refused) == 0 || !strings.Contains(got.Refused[0].Why, c.why) || got.To != got.From || got.Commits != nil {
				t.Fatalf("Take = %+v, want refused for %q", got, c.why)
			}
			if n := l.in("rev-list", "--all", "--count"); n != "1" {
				t.Errorf("the trusted store has %s commits, want 1", n)
			}
			l.in("fsck", "--strict", "--full")
		})
	}
}

// The agent cannot hand over other commits of the user's that it can read.
func TestTakeRefusesForeignBranch(t *testing.T) {
	l := newLab(t)
	work, _ := l.desk()
	old := l.base
	l.sh(work, "git", "commit", "-q", "--allow-empty", "-m", "new base")
	l.base = l.sh(work, "git", "rev-parse", "HEAD")
	l.sh(work, "git", "switch", "-q", "-c", "private", old)
	l.sh(work, "git", "commit", "-q", "--allow-empty", "-m", "secret")
	private := l.sh(work, "git", "rev-parse", "HEAD")
	l.sh(work, "git", "switch", "-q", "main")
	place := must.Get(l.git.Inspect(t.Context(), work))(t)
	l.trusted = must.Get(l.git.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "b.git")))(t)
	l.tree = must.Get(l.trusted.Clone(t.Context(), git.CloneSpec{Dir: filepath.Join(t.TempDir(), "t"), Branch: "work", SHA: l.base}))(t)
	l.agent("merge", "-q", "-m", "smuggle", private)
	if got := l.take(l.terms()); len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Why, "unknown commit") || got.To != l.base {
		t.Errorf("merged in, Take = %+v, want refused", got)
	}
	l.agent("reset", "-q", "--hard", private)
	if got := l.take(l.terms()); len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Why, "unknown commit") {
		t.Errorf("checked out, Take = %+v, want refused", got)
	}
}

// No program in the tree's own configuration runs.
func TestHostileConfiguration(t *testing.T) {
	l := newLab(t)
	canary := filepath.Join(t.TempDir(), "canary")
	evil := filepath.Join(t.TempDir(), "evil.sh")
	write(t, evil, fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >> %s\ncat\n", canary))
	must.Do(t, os.Chmod(evil, 0o755))
	l.commit("one", map[string]string{"a.txt": "1", "CODEOWNERS": "evil"})
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "core.alternateRefsCommand",
		"credential.helper", "diff.external", "diff.d.textconv", "diff.d.command", "filter.f.clean", "filter.f.smudge", "filter.f.process",
		"filter.a=b.clean", "gpg.program", "gpg.ssh.program", "merge.d.driver", "pager.status", "pager.diff", "pager.log", "sequence.editor",
		"uploadpack.packObjectsHook", "trailer.x.command", "alias.status", "remote.evil.uploadpack", "remote.evil.vcs", "interactive.diffFilter",
	} {
		l.agent("config", key, evil)
	}
	hooks := filepath.Join(t.TempDir(), "hooks")
	for _, dir := range []string{hooks, filepath.Join(l.tree.Dir, ".git/hooks")} {
		for _, hook := range []string{
			"pre-commit", "commit-msg", "post-commit", "post-checkout", "post-index-change", "reference-transaction", "post-rewrite", "pre-auto-gc",
			"post-merge", "prepare-commit-msg", "fsmonitor-watchman",
		} {
			write(t, filepath.Join(dir, hook), read(t, evil))
			must.Do(t, os.Chmod(filepath.Join(dir, hook), 0o755))
		}
	}
	config := read(t, filepath.Join(l.tree.Dir, ".git/config"))
	for key, value := range map[string]string{
		"core.hooksPath": hooks, "filter.f.required": "true", "commit.gpgSign": "true", "core.untrackedCache": "true",
		"extensions.partialClone": "evil", "remote.evil.promisor": "true", "remote.evil.url": "ext::" + evil, "protocol.ext.allow": "always",
		"core.worktree": t.TempDir(), "include.path": "/nowhere", "core.bare": "true",
	} {
		// Straight into the file: git itself would trip over some of them.
		section, name, _ := strings.Cut(key, ".")
		sub := ""
		if i := strings.LastIndex(name, "."); i >= 0 {
			sub, name = fmt.Sprintf(" %q", name[:i]), name[i+1:]
		}
		config += fmt.Sprintf("[%s%s]\n\t%s = %s\n", section, sub, name, value)
	}
	write(t, filepath.Join(l.tree.Dir, ".git/config"), config)
	write(t, filepath.Join(l.tree.Dir, ".git/info/attributes"), "*.txt filter=f diff=d merge=d\n*.md filter=a=b\n")
	write(t, filepath.Join(l.tree.Dir, "a.txt"), "2")
	write(t, filepath.Join(l.tree.Dir, "README.md"), "2")

	ctx := t.Context()
	must.Get(l.tree.Inspect(ctx))(t)
	must.Get(l.tree.Look(ctx))(t)
	if _, _, err := l.tree.Diff(ctx, l.base, 1<<16); err != nil {
		t.Error(err)
	}
	got := l.take(l.terms())
	if len(got.Commits) != 1 {
		t.Errorf("Take = %+v, want one commit", got)
	}
	if err := l.tree.Reset(ctx, got.To); err != nil {
		t.Error(err)
	}
	must.Get(must.Get(l.tree.Inspect(ctx))(t).CommitAll(ctx, git.Message{Subject: "rest"}))(t)
	terms := l.terms()
	terms.Last = got.To
	if got = l.take(terms); len(got.Commits) != 1 || got.Dirty {
		t.Errorf("Take = %+v, want one more commit", got)
	}
	if ran, err := os.ReadFile(canary); err == nil {
		t.Errorf("these ran:\n%s", ran)
	}
}

func link(target string) func(*lab) {
	return func(l *lab) {
		must.Do(l, os.Symlink(target, filepath.Join(l.tree.Dir, "x")))
		l.agent("add", "x")
		l.agent("commit", "-q", "-m", "link")
	}
}

// commitText returns the text of a commit on the base with its tree.
func commitText(l *lab) string {
	return fmt.Sprintf("tree %s\nparent %s\nauthor %[3]s 1 +0000\ncommitter %[3]s 1 +0000\n\nx",
		l.agent("rev-parse", "HEAD^{tree}"), l.base, program)
}

// withHeader returns a commit with an additional header line, which git ignores.
func withHeader(text, line string) string { return strings.Replace(text, "\n\n", "\n"+line+"\n\n", 1) }

// plant writes an object that git would refuse to write, and makes a commit the
// HEAD.
func plant(l *lab, kind, text string) string {
	id := sh(l.T, l.tree.Dir, text, "git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
	if kind == "commit" {
		write(l.T, filepath.Join(l.tree.Dir, ".git/refs/heads/work"), id+"\n")
	}
	return id
}

func plantTree(l *lab, mode string, names ...string) {
	blob := plant(l, "blob", "x")
	var raw []byte
	for _, name := range names {
		raw = append(raw, mode+" "+name+"\x00"...)
		raw = append(raw, unhex(blob)...)
	}
	plantRoot(l, string(raw))
}

// plantRoot plants a commit of a tree.
func plantRoot(l *lab, raw string) {
	tree := plant(l, "tree", raw)
	plant(l, "commit", strings.Replace(commitText(l), l.agent("rev-parse", "HEAD^{tree}"), tree, 1))
}

func unhex(id string) []byte {
	raw, err := hex.DecodeString(id)
	if err != nil {
		panic(err)
	}
	return raw
}

// lying returns a git that answers one command with garbage.
func lying(l *lab, command, answer string) git.Run {
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		if c.Argv[1] != command {
			return l.seen.run(ctx, c)
		}
		_, err := io.WriteString(c.Stdout, answer)
		return process.Result{}, err
	}
}
