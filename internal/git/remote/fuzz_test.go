package remote_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// answering returns a repository whose git prints out and said.
func answering(t *testing.T, exit int, out, said []byte) *git.Trusted {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "config"), nil, 0o600))
	trusted, err := (git.Git{Run: func(_ context.Context, c process.Command) (process.Result, error) {
		_, err := c.Stdout.Write(out)
		_, errored := c.Stderr.Write(said)
		return process.Result{Exit: exit}, errors.Join(err, errored)
	}}).Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return trusted
}

var plainName = regexp.MustCompile(`^[\w.-]+$`)

// FuzzRefs holds that what lies on a remote under ralph's own refs is read as ralph writes
// it, or left out.
func FuzzRefs(f *testing.F) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, header := range []tar.Header{
		{Name: "journal.jsonl", Size: 2, Mode: 0o644},
		{Name: "../up", Size: 1},
		{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/"},
		{Name: "a/b", Size: 1},
		{Name: "fifo", Typeflag: tar.TypeFifo},
		{Name: "journal.jsonl", Size: 1},
	} {
		must.Do(f, w.WriteHeader(&header))
		_, _ = w.Write(bytes.Repeat([]byte("x"), int(header.Size)))
	}
	f.Add(archive.Bytes())
	f.Add(archive.Bytes()[:700])
	f.Add([]byte("commit " + strings.Repeat("a", 40) + " 1700000000 refs/ralph/state-7\ncommit x 99999999999999999999 refs/ralph/../x\ntree a 1 refs/ralph/a\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		trusted := answering(t, 0, out, nil)
		files, err := remote.ReadFiles(t.Context(), trusted, strings.Repeat("a", 40))
		size := 0
		for name, text := range files {
			if size += len(text); !plainName.MatchString(name) || name[0] == '.' {
				t.Errorf("a file %q", name)
			}
		}
		if size > len(out) || err != nil && files != nil {
			t.Errorf("%d bytes were read of %d, and %v", size, len(out), err)
		}
		refs, _ := remote.Repository{URL: "file:///x"}.FetchRefs(t.Context(), trusted)
		for _, ref := range refs {
			if name, is := strings.CutPrefix(ref.Name, "refs/ralph/"); !is || !plainName.MatchString(name) {
				t.Errorf("a ref %q", ref.Name)
			}
		}
	})
}

// FuzzRefused holds that what a remote says when it refuses a push becomes one short line.
func FuzzRefused(f *testing.F) {
	f.Add([]byte("!\tHEAD:refs/heads/x\t[remote rejected] (GH013)\n"), []byte("remote: error: GH013: Repository rule violations\nremote: https://github.com/x\n"))
	f.Add([]byte("!\ta:b\t[rejected] (fetch first)\n!\t\t\n"), []byte("error: failed to push some refs\n\x1b[2Jremote: \xff\x00\n"))
	f.Add([]byte("To https://x:y@example.com\n!"), []byte("fatal: unable to access 'https://example.com/': Could not resolve host: example.com\nremote: "))
	f.Fuzz(func(t *testing.T, out, said []byte) {
		err := remote.Repository{URL: "file:///x"}.PushRef(t.Context(), answering(t, 1, out, said), "refs/ralph/a", strings.Repeat("a", 40))
		if err == nil {
			t.Fatal("no error")
		}
		if text := err.Error(); len(text) > 8000 || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) }) {
			t.Errorf("%q", text)
		}
	})
}
