package git_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
)

// swap replaces the content of a loose object.
func swap(t *testing.T, objects, id, kind, text string) {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := fmt.Fprintf(z, "%s %d\x00%s", kind, len(text), text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(objects, id[:2], id[2:])
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, packed.Bytes(), 0o444); err != nil {
		t.Fatal(err)
	}
}

// An object with a wrong content is found anywhere in a commit. git itself reads
// it without an error.
func TestObjectsAreNamedByTheirContent(t *testing.T) {
	for name, test := range map[string]struct{ of, kind, text string }{
		"as it was":     {},
		"a file":        {"HEAD:a", "blob", "swapped\n"},
		"a longer file": {"HEAD:a", "blob", strings.Repeat("x", 1<<20)},
		"an empty file": {"HEAD:a", "blob", ""},
		"a folder":      {"HEAD^{tree}", "tree", ""},
		"the commit":    {"HEAD", "commit", "%s"},
		"no object":     {"HEAD:a", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			top := project(t)
			write(t, filepath.Join(top, "large"), strings.Repeat("a line of it\n", 1<<16))
			sh(t, top, "", "git", "add", "-A")
			sh(t, top, "", "git", "commit", "-qm", "more")
			place := must(g.Inspect(t.Context(), top))(t)
			trusted, _ := copyOf(t, g, top)
			if test.of != "" {
				id, objects := sh(t, top, "", "git", "rev-parse", test.of), filepath.Join(top, ".git", "objects")
				if test.kind == "commit" {
					test.text = strings.Replace(sh(t, top, "", "git", "cat-file", "commit", "HEAD")+"\n", "more", "less", 1)
				}
				if swap(t, objects, id, test.kind, test.text); test.kind == "" {
					if err := os.Remove(filepath.Join(objects, id[:2], id[2:])); err != nil {
						t.Fatal(err)
					}
				}
			}
			_, err := trusted.Clone(t.Context(), git.CloneSpec{Dir: filepath.Join(t.TempDir(), "clean"), SHA: place.Head})
			if (err == nil) != (test.of == "") {
				t.Errorf("Clone = %v", err)
			}
		})
	}
}

// Objects are not looked up in files that others can write, such as a commit
// graph.
func TestCommitGraphsAreNotBelieved(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "a"), "2")
	sh(t, top, "", "git", "commit", "-qam", "more")
	sh(t, top, "", "git", "commit-graph", "write", "--reachable")
	oid := func(of string) []byte { return must(hex.DecodeString(sh(t, top, "", "git", "rev-parse", of)))(t) }
	tree, other := oid("HEAD^{tree}"), oid("HEAD~1^{tree}")
	file := filepath.Join(top, ".git", "objects", "info", "commit-graph")
	graph := bytes.Replace(must(os.ReadFile(file))(t), tree, other, 1)
	body := graph[:len(graph)-sha1.Size]
	sum := sha1.Sum(body)
	if err := errors.Join(os.Remove(file), os.WriteFile(file, append(body, sum[:]...), 0o444)); err != nil {
		t.Fatal(err)
	}
	if plain := sh(t, top, "", "git", "rev-list", "--objects", "--no-walk", "--no-object-names", "HEAD"); !strings.Contains(plain, hex.EncodeToString(other)) {
		t.Fatalf("plain git is not taken in: %s", plain)
	}
	swap(t, filepath.Join(top, ".git", "objects"), sh(t, top, "", "git", "rev-parse", "HEAD:a"), "blob", "3")
	trusted, span := copyOf(t, g, top)
	if _, err := trusted.Clone(t.Context(), git.CloneSpec{Dir: filepath.Join(t.TempDir(), "clean"), SHA: span.To}); err == nil {
		t.Error("it checks out a file that was swapped")
	}
}

// What was copied once is not read from the user's objects again.
func TestACopyKeepsWhatItHas(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, ".gitattributes"), "* text eol=crlf\n")
	write(t, filepath.Join(top, "b/c"), "c\n")
	sh(t, top, "", "git", "add", "-A")
	sh(t, top, "", "git", "commit", "-qm", "more")
	from, span := borrowed(t, g, top)
	if from.Nearest(span.To) != from {
		t.Error("a copy that was not asked for is the nearest")
	}
	trusted := must(from.Copy(t.Context()))(t)
	if from.Nearest(span.To) != from {
		t.Error("an empty copy is the nearest")
	}
	for _, swapped := range []string{"", "HEAD:b/c", "HEAD:b"} {
		if swapped != "" {
			kind := sh(t, top, "", "git", "cat-file", "-t", swapped)
			swap(t, filepath.Join(top, ".git", "objects"), sh(t, top, "", "git", "rev-parse", swapped), kind, "")
		}
		dir := filepath.Join(t.TempDir(), "clean")
		must(trusted.Clone(t.Context(), git.CloneSpec{Dir: dir, SHA: span.To}))(t)
		if text := must(os.ReadFile(filepath.Join(dir, "b/c")))(t); string(text) != "c\r\n" {
			t.Errorf("with %q swapped, the file is %q", swapped, text)
		}
	}
	if _, err := trusted.Files(t.Context(), span.From); err != nil {
		t.Error(err)
	}
	if from.Nearest(span.To) != trusted {
		t.Error("a copy that has the commit is not the nearest")
	}
}

// A checkout and a search do not have to decompress what was copied.
func TestACopyIsNotCompressed(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	text := strings.Repeat("a line of it\n", 1<<10)
	write(t, filepath.Join(top, "large"), text)
	sh(t, top, "", "git", "add", "-A")
	sh(t, top, "", "git", "commit", "-qm", "more")
	trusted, span := copyOf(t, g, top)
	must(trusted.Files(t.Context(), span.To))(t)
	found := false
	for _, pack := range must(filepath.Glob(filepath.Join(trusted.Dir, "objects/pack/*.pack")))(t) {
		found = found || bytes.Contains(must(os.ReadFile(pack))(t), []byte(text))
	}
	if !found {
		t.Error("no pack of the copy has the text of a file")
	}
}

// The error says why objects could not be written, not that the pipe broke.
func TestACopyThatCannotBeWritten(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "large"), strings.Repeat("a line of it\n", 1<<20)) // more than fits a pipe
	sh(t, top, "", "git", "add", "-A")
	sh(t, top, "", "git", "commit", "-qm", "more")
	trusted, span := copyOf(t, g, top)
	packs := filepath.Join(trusted.Dir, "objects", "pack")
	if err := errors.Join(os.RemoveAll(packs), os.WriteFile(packs, nil, 0o444)); err != nil {
		t.Fatal(err)
	}
	if _, err := trusted.Files(t.Context(), span.To); err == nil || !strings.Contains(err.Error(), "index-pack") {
		t.Errorf("Files = %v", err)
	}
}

// A file that claims to be large is streamed by git checkout, and read from another copy by git grep.
func TestStreamedFilesAreNamedByTheirContent(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "a"), "good\n")
	sh(t, top, "", "git", "commit", "-qam", "more")
	objects, id := filepath.Join(top, ".git", "objects"), sh(t, top, "", "git", "rev-parse", "HEAD:a")
	liePack(t, objects, id, "good\n", 600_000_000)
	swap(t, objects, id, "blob", "evil\n")
	if text := sh(t, top, "", "git", "grep", "-h", ".", "HEAD", "--", "a"); text != "evil" {
		t.Fatalf("plain git is not taken in: %s", text)
	}
	trusted, span := copyOf(t, g, top)
	if found, err := trusted.FilesMatching(t.Context(), span.To, []string{"good"}, []string{"a"}); err == nil && len(found) != 1 {
		t.Error("it believes another content")
	}
}

// The history ends where parents are missing, not where a file says so.
func TestHistoryEndsWhereParentsAreMissing(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	for _, name := range []string{"a", "b", "c"} {
		write(t, filepath.Join(top, name), name)
		sh(t, top, "", "git", "add", "-A")
		sh(t, top, "", "git", "commit", "-qm", name)
	}
	base := sh(t, top, "", "git", "rev-parse", "HEAD~2")
	write(t, filepath.Join(top, ".git", "shallow"), sh(t, top, "", "git", "rev-parse", "HEAD~1")+"\n")
	trusted, span := copyOf(t, g, top)
	if found, err := trusted.MergeBase(t.Context(), git.Span{From: base, To: span.To}); err != nil || found != base {
		t.Errorf("MergeBase = %q, %v, want %s", found, err, base)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	sh(t, top, "", "rm", ".git/shallow")
	sh(t, top, "", "git", "clone", "-q", "--depth=2", "file://"+top, clone)
	trusted, span = copyOf(t, g, clone)
	if found, err := trusted.MergeBase(t.Context(), span); err != nil || found != span.From {
		t.Errorf("in a shallow clone: MergeBase = %q, %v, want %s", found, err, span.From)
	}
}

// liePack writes a pack of one file that claims to have another size.
func liePack(t *testing.T, objects, id, text string, size int) {
	t.Helper()
	entry, rest := []byte{byte(3<<4 | size&15)}, size>>4
	for ; rest > 0; rest >>= 7 {
		entry[len(entry)-1] |= 0x80
		entry = append(entry, byte(rest&0x7f))
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	entry = append(entry, packed.Bytes()...)
	pack := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), entry...)
	sum := sha1.Sum(pack)
	index := []byte("\xfftOc\x00\x00\x00\x02")
	name := must(hex.DecodeString(id))(t)
	for first := range 256 {
		index = binary.BigEndian.AppendUint32(index, map[bool]uint32{true: 1}[first >= int(name[0])])
	}
	index = binary.BigEndian.AppendUint32(append(index, name...), crc32.ChecksumIEEE(entry))
	index = append(binary.BigEndian.AppendUint32(index, 12), sum[:]...)
	end := sha1.Sum(index)
	write(t, filepath.Join(objects, "pack", "pack-"+hex.EncodeToString(sum[:])+".pack"), string(append(pack, sum[:]...)))
	write(t, filepath.Join(objects, "pack", "pack-"+hex.EncodeToString(sum[:])+".idx"), string(append(index, end[:]...)))
}

// More ends of a history than a clone has are refused: each takes two starts of git.
func TestManyEndsOfAHistory(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	place := must(g.Inspect(t.Context(), top))(t)
	var ends strings.Builder
	for n := range 1001 {
		fmt.Fprintf(&ends, "%040x\n", n)
	}
	write(t, filepath.Join(top, ".git", "shallow"), ends.String())
	_, err := g.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "trusted.git"), "work")
	if err == nil || !strings.Contains(err.Error(), "ends at 1001 commits") {
		t.Errorf("error %v, want one that names the number", err)
	}
}
