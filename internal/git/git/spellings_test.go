package git_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// spellings are names that some file system treats as .git or .gitmodules.
var spellings = []string{
	".git", ".GIT", ".Git", ".gIt", ".G\u0130T", // as folders are named without regard to case
	"git~1", "GIT~1", "Git~1", // what NTFS and FAT call it for short
	".git.", ".git..", ".git ", ".git . .", ".GIT .", // NTFS leaves out what stands at the end
	".git::$INDEX_ALLOCATION", ".git:$I30:$INDEX_ALLOCATION", ".git:stream", ".git ::$DATA", "git~1::$INDEX_ALLOCATION", // and reads streams
	".g\u200cit", ".gi\u200dt", ".git\u200b", "\u200e.git", ".gi\u2060t", "\ufeff.git", ".g\u202eit", ".gi\u206at", // HFS+ leaves such out
	".git\\config", "a\\.git", ".git\n",
	".gitmodules", ".GITMODULES", ".gitmodules ", ".gitmodules.", ".gitmodules::$DATA", ".git\u200cmodules", "gitmod~1", "GITMOD~4", "gi7eba~1",
}

// Every spelling is refused in any folder: with ATTACK as a file, a link and a
// folder, otherwise as one of them.
func TestTakeRefusesEverySpellingOfGit(t *testing.T) {
	l := newLab(t)
	blob := plant(l, "blob", "x")
	folder := plant(l, "tree", "100644 config\x00"+string(unhex(blob)))
	kinds := [][2]string{{"100644", blob}, {"120000", blob}, {"40000", folder}}
	for i, name := range spellings {
		if !short.Has(name) {
			continue
		}
		tried := kinds[i%len(kinds):][:1]
		if os.Getenv("ATTACK") != "" {
			tried = kinds
		}
		for _, kind := range tried {
			mode, id := kind[0], kind[1]
			l.spell(mode, name, id)
			if got := l.take(l.terms()); len(got.Refused) == 0 || got.To != got.From {
				t.Errorf("%q with the mode %s: Take = %+v, want it refused", name, mode, got)
			}
		}
	}
}

// Similar names are accepted.
func TestTakeRefusesNoOtherName(t *testing.T) {
	l := newLab(t)
	names := []string{".github.md", ".gitkeep", "git", "gitmodules", "git~2", "x.git", "\U0001f468\u200d\U0001f469.txt"}
	files := map[string]string{}
	for _, name := range names {
		files[name] = "x"
	}
	l.commit("x", files)
	if diff := cmp.Diff(names, l.take(l.terms()).Files); diff != "" {
		t.Errorf("files taken over (-want +got):\n%s", diff)
	}
}

// A protected file is protected in every spelling.
func TestTakeDropsEverySpellingOfWhatIsProtected(t *testing.T) {
	l := newLab(t)
	files, want := map[string]string{}, []string{}
	for _, name := range []string{
		"CodeOwners", "CODE\u200cOWNERS", "CODEOWNERS.", "CODEOWNERS::$DATA", ".github./x", ".git\u200dhub/x", ".GITHUB /x.", "a/.gitattributes.",
	} {
		files[name], want = "x", append(want, name)
	}
	l.commit("x", files)
	got := l.take(l.terms())
	slices.Sort(want)
	if diff := cmp.Diff(want, got.Dropped); diff != "" || len(got.Refused) > 0 || got.To != got.From {
		t.Errorf("dropped (-want +got):\n%s\nTake = %+v", diff, got)
	}
}

// spell makes a commit with an object of this name in a folder.
func (l *lab) spell(mode, name, id string) {
	l.Helper()
	inner := plant(l, "tree", mode+" "+name+"\x00"+string(unhex(id)))
	tree := plant(l, "tree", "40000 a\x00"+string(unhex(inner)))
	plant(l, "commit", strings.Replace(commitText(l), l.agent("rev-parse", "HEAD^{tree}"), tree, 1))
}
