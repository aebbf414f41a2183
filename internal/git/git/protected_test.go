package git_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/run/merging"
)

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
