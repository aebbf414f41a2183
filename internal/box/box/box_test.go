package box_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/box/box"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/rights"
)

// files are those of a folder: a text, "program TEXT", "link TARGET", "pipe", or "gone".
type files map[string]string

const (
	theirs  = "it was changed here, too"
	noFile  = "it is no file, too large, or in another repository"
	outside = "the link leads out of the folder, or into .git"
)

// lay makes these files, and removes what is in their place.
func lay(t *testing.T, dir string, all files) {
	t.Helper()
	for _, gone := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			at, what := filepath.Join(dir, name), all[name]
			if gone == (what == "gone") {
				must.Do(t, layOne(at, what))
			}
		}
	}
}

func layOne(at, what string) error {
	kind, rest, _ := strings.Cut(what, " ")
	err := os.RemoveAll(at)
	if what == "gone" {
		return err
	}
	err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o755))
	switch kind {
	case "link":
		return errors.Join(err, os.Symlink(rest, at))
	case "pipe":
		return errors.Join(err, syscall.Mkfifo(at, 0o644))
	case "program":
		return errors.Join(err, os.WriteFile(at, []byte(rest), 0o644), os.Chmod(at, 0o755))
	}
	return errors.Join(err, os.WriteFile(at, []byte(what), 0o644))
}

// look returns the files of a folder.
func look(t *testing.T, dir string) files {
	t.Helper()
	all := files{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(at, dir+"/")
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(at)
			all[name] = "link " + to
			return err
		}
		if !d.Type().IsRegular() {
			all[name] = "pipe"
			return nil
		}
		text, err := os.ReadFile(at)
		if all[name] = string(text); err == nil {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil && info.Mode()&0o100 != 0 {
				all[name] = "program " + string(text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// below returns a box whose folders are in dir.
func below(dir string) box.Box {
	at := func(name string) string { return filepath.Join(dir, name) }
	return box.Box{User: at("user"), Dir: at("box"), Before: at("before"), Record: at("record"), Upper: at("layers")}
}

// filled returns a box of a folder with these files.
func filled(t *testing.T, start files) box.Box {
	t.Helper()
	b := below(t.TempDir())
	for _, dir := range []string{b.User, b.Dir} {
		must.Do(t, os.Mkdir(dir, 0o755))
	}
	lay(t, b.User, start)
	must.Do(t, b.Fill(t.Context(), git.Listing{Files: must.Get(box.List(t.Context(), b.User))(t)}, nil))
	return b
}

func changed(t *testing.T, b box.Box, more ...string) []string {
	t.Helper()
	names := must.Get(box.List(t.Context(), b.Dir))(t)
	return append(must.Get(b.Changed(t.Context(), names))(t), more...)
}

func mayAll(string) string { return "" }

// Each path has three versions: the start's, the box's, and the user's now. The box's is written where the user's is the
// start's. What is the same already is not told, and everything else stays as the user has it, and is told with the reason.
func TestBring(t *testing.T) {
	const latin = "caf\xe9"
	long := strings.Repeat("n", 255)
	for name, c := range map[string]struct {
		start, box, user files // the last two are what changed since
		more             []string
		want             files // what of the user's differs from what the user left there
		paths            []string
		left             map[string]string
	}{
		"nothing":                  {start: files{"a": "1", "d/b": "1"}},
		"a file":                   {start: files{"a": "1", "d/b": "1"}, box: files{"d/b": "2"}, want: files{"d/b": "2"}, paths: []string{"d/b"}},
		"the user's own work":      {start: files{"a": "1", "b": "1"}, box: files{"b": "2"}, user: files{"a": "mine", "new": "mine"}, want: files{"b": "2"}, paths: []string{"b"}},
		"both, differently":        {start: files{"a": "1", "b": "1"}, box: files{"a": "2", "b": "2"}, user: files{"a": "3"}, want: files{"b": "2"}, paths: []string{"b"}, left: files{"a": theirs}},
		"both, the same":           {start: files{"a": "1"}, box: files{"a": "2"}, user: files{"a": "2"}},
		"binary content":           {start: files{"a": "\x00\xff"}, box: files{"a": "\xff\x00\r\n", "b": "\x00"}, want: files{"a": "\xff\x00\r\n", "b": "\x00"}, paths: []string{"a", "b"}},
		"a new file":               {start: files{"a": "1"}, box: files{"new/d/b": "1"}, want: files{"new/d/b": "1"}, paths: []string{"new/d/b"}},
		"deleted":                  {start: files{"a": "1", "b": "1"}, box: files{"b": "gone"}, want: files{"b": "gone"}, paths: []string{"b"}},
		"deleted with its folder":  {start: files{"a": "1", "d/e/b": "1"}, box: files{"d": "gone"}, want: files{"d": "gone"}, paths: []string{"d/e/b"}},
		"edited, and deleted here": {start: files{"a": "1"}, box: files{"a": "2"}, user: files{"a": "gone"}, left: files{"a": theirs}},
		"deleted here":             {start: files{"a": "1", "b": "1"}, box: files{"b": "2"}, user: files{"a": "gone"}, want: files{"b": "2"}, paths: []string{"b"}},

		"a program":             {start: files{"a": "1", "b": "program 1"}, box: files{"a": "program 1", "b": "1"}, want: files{"a": "program 1", "b": "1"}, paths: []string{"a", "b"}},
		"a link":                {start: files{"d/a": "1"}, box: files{"b": "link d/a", "d/b": "link ../c", "e": "link d"}, want: files{"b": "link d/a", "d/b": "link ../c", "e": "link d"}, paths: []string{"b", "d/b", "e"}},
		"a link, another":       {start: files{"a": "1"}, box: files{"b": "link a"}, user: files{"b": "link c"}, left: files{"b": theirs}},
		"a link for a file":     {start: files{"a": "1", "b": "1"}, box: files{"b": "link a"}, want: files{"b": "link a"}, paths: []string{"b"}},
		"a folder for a link":   {start: files{"d/a": "1", "b": "link d"}, box: files{"b": "gone", "b/a": "2"}, want: files{"b/a": "2"}, paths: []string{"b", "b/a"}},
		"a link for a folder":   {start: files{"d/a": "1", "e/a": "1"}, box: files{"d": "link e"}, want: files{"d": "link e"}, paths: []string{"d", "d/a"}},
		"a link that was there": {start: files{"a": "1", "b": "link /etc/passwd"}, box: files{"a": "2"}, want: files{"a": "2"}, paths: []string{"a"}},
		"links that lead out": {
			start: files{"a": "1", "d/b": "1"},
			box:   files{"up": "link ../x", "d/up": "link ../../x", "root": "link /etc/passwd", "top": "link d/e/..", "d/e": "link ../d/../..", "hook": "link .git/hooks/x"},
			left:  files{"up": outside, "d/up": outside, "root": outside, "top": outside, "d/e": outside, "hook": outside},
		},
		"a link that leads out by way of another": {
			start: files{"d/e/b": "1"}, box: files{"d/e/top": "link ../..", "x": "link d/e/top/../out"},
			want: files{"d/e/top": "link ../.."}, paths: []string{"d/e/top"}, left: files{"x": outside},
		},

		"a link that leads out once a folder is one": {start: files{"d/a": "1", "a": "1"}, box: files{"x": "link d/../a"}, left: files{"x": outside}},

		"a folder for a file":                 {start: files{"a": "1"}, box: files{"a": "gone", "a/b": "2", "a/c/d": "2"}, want: files{"a/b": "2", "a/c/d": "2"}, paths: []string{"a", "a/b", "a/c/d"}},
		"a file for a folder":                 {start: files{"a/b": "1", "a/c/d": "1"}, box: files{"a": "2"}, want: files{"a": "2"}, paths: []string{"a", "a/b", "a/c/d"}},
		"a file for a folder, added to here":  {start: files{"a/b": "1"}, box: files{"a": "2"}, user: files{"a/c": "3"}, want: files{"a/b": "gone"}, paths: []string{"a/b"}, left: files{"a": theirs}},
		"a new file where a folder is here":   {start: files{"b": "1"}, box: files{"a": "2"}, user: files{"a/b": "3"}, left: files{"a": theirs}},
		"a folder that is a link here":        {start: files{"d/a": "1", "e/b": "1"}, box: files{"d/a": "2", "d/b": "2"}, user: files{"d": "link e"}, left: files{"d/a": theirs, "d/b": theirs}},
		"a folder that is a link out of here": {start: files{"d/a": "1"}, box: files{"d/new": "2"}, user: files{"d": "link /tmp"}, left: files{"d/new": theirs}},

		"ralph's own files": {
			start: files{"a": "1", ".ralph/settings.json": "1"},
			box:   files{".ralph/settings.json": "2", ".ralph/runs/r1/x": "2", ".ralph-active": "2", ".ralph-worktree-2/x": "2"},
			left:  files{".ralph/settings.json": "it is protected"},
		},
		"git's own files by another name": {
			start: files{"a": "1"}, box: files{"d/.GIT/x": "2", "git~1/x": "2", ".g\u200cit/x": "2"}, more: []string{"d/.GIT/x"},
			left: files{"d/.GIT/x": noFile, "git~1/x": noFile, ".g\u200cit/x": noFile},
		},
		"a new repository":     {start: files{"a": "1"}, box: files{"d/.git/HEAD": "x", "d/b": "2"}, more: []string{"d/.git/HEAD"}, left: files{"d": noFile, "d/.git/HEAD": noFile}},
		"a repository":         {start: files{"a": "1", "d/.git/HEAD": "x", "d/b": "1"}, box: files{"a": "2"}, want: files{"a": "2"}, paths: []string{"a"}},
		"a deleted repository": {start: files{"d/.git/HEAD": "x", "d/b": "1"}, box: files{"d": "gone"}, left: files{"d": noFile}},
		"a repository here":    {start: files{"d/b": "1"}, box: files{"d/b": "2", "d/c": "2"}, user: files{"d/.git/HEAD": "x"}, left: files{"d/b": noFile, "d/c": noFile}},

		"a protected file":      {start: files{"a": "1", "keep": "1"}, box: files{"a": "2", "keep": "2"}, want: files{"a": "2"}, paths: []string{"a"}, left: files{"keep": "it is protected"}},
		"a pipe":                {start: files{"a": "1"}, box: files{"a": "gone", "p": "pipe"}, want: files{"a": "gone"}, paths: []string{"a"}, left: files{"p": noFile}},
		"a pipe for a file":     {start: files{"a": "1"}, box: files{"a": "pipe"}, left: files{"a": noFile}},
		"a name in Latin-1":     {start: files{latin: "1", "l": "link " + latin}, box: files{latin: "2"}, want: files{latin: "2"}, paths: []string{latin}},
		"a long name":           {start: files{long: "1"}, box: files{long: "2", "d/" + long: "2"}, want: files{long: "2", "d/" + long: "2"}, paths: []string{"d/" + long, long}},
		"a path that leads out": {start: files{"a": "1"}, box: files{"a": "2", "../out": "2"}, more: []string{"../out", "/etc/passwd", "d/../../out", ""}, want: files{"a": "2"}, paths: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := filled(t, c.start)
			if got := changed(t, b); len(got) > 0 {
				t.Errorf("at the start %q have changed", got)
			}
			lay(t, b.Dir, c.box)
			lay(t, b.User, c.user)
			want := look(t, b.User)
			for name, what := range c.want {
				maps.DeleteFunc(want, func(at, _ string) bool {
					return at == name || strings.HasPrefix(at, name+"/") || strings.HasPrefix(name, at+"/")
				})
				if what != "gone" {
					want[name] = what
				}
			}
			before := must.Get(os.ReadFile(b.Record))(t)
			refused := func(name string) string {
				if name == "keep" {
					return "it is protected"
				}
				return ""
			}
			for _, again := range []string{"", "repeated", "repeated after a kill"} {
				if again == "repeated after a kill" {
					must.Do(t, os.WriteFile(b.Record, before, 0o600))
				}
				if again != "" {
					c.paths = nil
				}
				done := must.Get(b.Bring(t.Context(), changed(t, b, c.more...), refused))(t)
				left := files{}
				for _, l := range done.Left {
					left[l.Path] = l.Why
				}
				if diff := cmp.Diff(c.paths, done.Paths); diff != "" {
					t.Errorf("%s: brought (-want +got):\n%s", again, diff)
				}
				if diff := cmp.Diff(files(c.left), left, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s: left (-want +got):\n%s", again, diff)
				}
				if diff := cmp.Diff(want, look(t, b.User)); diff != "" {
					t.Errorf("%s: the user's folder (-want +got):\n%s", again, diff)
				}
			}
		})
	}
}

// What was brought once is the start of the next time.
func TestBringGoesOn(t *testing.T) {
	b := filled(t, files{"a": "1"})
	for _, step := range []struct {
		box, user, left files
		want            string
	}{
		{box: files{"a": "2"}, want: "2"},
		{box: files{"a": "3"}, want: "3"},
		{box: files{"a": "4"}, user: files{"a": "mine"}, want: "mine", left: files{"a": theirs}},
		{box: files{"a": "5"}, want: "mine", left: files{"a": theirs}},
		{user: files{"a": "5"}, want: "5"},
		{box: files{"a": "6"}, want: "6"},
		{box: files{"a": "gone"}, want: ""},
		{box: files{"a": "7"}, want: "7"},
	} {
		lay(t, b.Dir, step.box)
		lay(t, b.User, step.user)
		done := must.Get(b.Bring(t.Context(), changed(t, b), mayAll))(t)
		if len(done.Left) != len(step.left) {
			t.Errorf("left are %v, want %v", done.Left, step.left)
		}
		if got := look(t, b.User)["a"]; got != step.want {
			t.Errorf("after %v and %v the file is %q, want %q", step.box, step.user, got, step.want)
		}
	}
}

// A file is replaced as a whole: who has it open reads the old one to its end. It keeps the rights that the user gave it, and
// has the time of the box's.
func TestFilesAreReplaced(t *testing.T) {
	b := filled(t, files{"a": "old", "tool": "program old"})
	at, then := filepath.Join(b.User, "a"), time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	lay(t, b.Dir, files{"a": "new", "tool": "program new", "new": "program new"})
	must.Do(t, errors.Join(
		os.Chmod(at, 0o600), os.Chmod(filepath.Join(b.User, "tool"), 0o700), os.Chmod(filepath.Join(b.Dir, "a"), 0o666),
		os.Chmod(filepath.Join(b.Dir, "new"), 0o4777), os.Chtimes(filepath.Join(b.Dir, "a"), then, then),
	))
	open := must.Get(os.Open(at))(t)
	defer open.Close()
	must.Get(b.Bring(t.Context(), changed(t, b), mayAll))(t)
	if old := must.Get(io.ReadAll(open))(t); string(old) != "old" {
		t.Errorf("a reader got %q", old)
	}
	for name, want := range map[string]fs.FileMode{"a": 0o600, "tool": 0o700, "new": 0o755} {
		info := must.Get(os.Stat(filepath.Join(b.User, name)))(t)
		if info.Mode() != want {
			t.Errorf("the mode of %s is %v, want %v", name, info.Mode(), want)
		}
		if name == "a" && !info.ModTime().Equal(then) {
			t.Errorf("the time is %v, want %v", info.ModTime(), then)
		}
	}
}

// What cannot be written stays, is told, and holds back nothing else. No part of it is left.
func TestAFolderThatIsClosed(t *testing.T) {
	b := filled(t, files{"a": "1", "closed/b": "1", "closed/c": "1"})
	lay(t, b.Dir, files{"a": "2", "closed/b": "2", "closed/c": "gone", "closed/new": "2"})
	names := changed(t, b)
	closed := filepath.Join(b.User, "closed")
	rights.Drop(t, filepath.Dir(b.User), b.User, b.Dir, b.Record, closed, filepath.Join(b.User, "a"), filepath.Join(b.Dir, "closed"))
	must.Do(t, os.Chmod(closed, 0o500))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	done := must.Get(b.Bring(t.Context(), names, mayAll))(t)
	var left []string
	for _, l := range done.Left {
		left = append(left, l.Path)
		if !strings.Contains(l.Why, "permission denied") {
			t.Errorf("%s: %s", l.Path, l.Why)
		}
	}
	if diff := cmp.Diff([]string{"closed/b", "closed/c", "closed/new"}, left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(files{"a": "2", "closed/b": "1", "closed/c": "1"}, look(t, b.User)); diff != "" {
		t.Errorf("the user's folder (-want +got):\n%s", diff)
	}
}

// A file that the user cannot read, such as a container's, is not in the box, stays as it is, and stops nothing.
func TestUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	b := below(dir)
	lay(t, b.User, files{"a": "1", "data": "theirs", "tracked": "theirs"})
	lay(t, b.Dir, files{"tracked": "committed"})
	must.Do(t, errors.Join(os.Chmod(filepath.Join(b.User, "data"), 0), os.Chmod(filepath.Join(b.User, "tracked"), 0)))
	rights.Drop(t, dir, b.User, b.Dir, filepath.Join(b.User, "a"), filepath.Join(b.Dir, "tracked"))
	must.Do(t, b.Fill(t.Context(), git.Listing{Files: []string{"a", "data", "tracked"}}, nil))
	if diff := cmp.Diff(files{"a": "1", "tracked": "committed"}, look(t, b.Dir)); diff != "" {
		t.Errorf("the box (-want +got):\n%s", diff)
	}
	lay(t, b.Dir, files{"a": "2", "data": "2", "tracked": "2"})
	done := must.Get(b.Bring(t.Context(), changed(t, b), mayAll))(t)
	want := box.Brought{Paths: []string{"a"}, Left: []box.Left{{Path: "data", Why: theirs}, {Path: "tracked", Why: theirs}}}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Errorf("Bring (-want +got):\n%s", diff)
	}
}

// A box holds what is listed, as the user has it, with its content, mode and time, and nothing else. It begins as a clone of
// the newest commit, whose versions stay where the user's are missing in a sparse checkout or were written by a filter.
func TestFill(t *testing.T) {
	b := below(t.TempDir())
	lay(t, b.Dir, files{
		".git/HEAD": "clone", ".ralph/settings.json": "committed", "a": "committed", "removed": "committed", "d/removed": "committed", "secret": "encrypted",
		"sparse": "committed", "was-file": "committed", "was-folder/x/y": "committed", "was-link": "link a", "stray": "x", "linked": "program committed",
	})
	lay(t, b.User, files{
		".git/HEAD": "user", ".git/modules/sub/HEAD": "x", ".ralph/settings.json": "mine", ".ralph/runs/r1/journal.jsonl": "mine", ".ralph-active": "mine",
		"a": "draft", "new/draft": "draft", "tool": "program 1", "secret": "decrypted", "was-file/x": "draft", "was-folder": "draft", "was-link/x": "draft", "linked": "link a",
		"sub/.git": "gitdir: ../.git/modules/sub", "sub/x": "1", "nested/.git/HEAD": "x", "nested/x": "1", "bare/x": "1",
		"deps/lib/x": "1", "deps/lib/run": "program 1", "deps/l": "link lib/x", ".env": "KEY=1", "not listed": "1", "pipe": "pipe",
	})
	must.Do(t, os.MkdirAll(filepath.Join(b.Dir, "sub"), 0o755))
	then := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, name := range []string{"a", "deps/lib/x", "nested/x"} {
		must.Do(t, os.Chtimes(filepath.Join(b.User, name), then, then))
	}
	if err := errors.Join(os.Chmod(filepath.Join(b.User, ".env"), 0o600), os.Chmod(filepath.Join(b.User, "new/draft"), 0o440)); err != nil {
		t.Fatal(err)
	}
	list := git.Listing{
		Files: []string{
			".ralph/settings.json", "a", "d/removed", "linked", "pipe", "removed", "secret", "sparse", "sub", "tool", "was-file", "was-file/x", "was-folder",
			"was-folder/x/y", "was-link", "was-link/x", "nested/", "new/draft", "bare", "just now removed",
		},
		Removed:  []string{"d/removed", "removed", "was-folder/x/y"},
		Ignored:  []string{".env", ".ralph/runs/", ".ralph-active", "deps/", "no longer/"},
		Filtered: []string{"secret"},
	}
	want := files{
		".git/HEAD": "clone", ".ralph/settings.json": "committed", "a": "draft", "secret": "encrypted", "sparse": "committed", "tool": "program 1", "was-file/x": "draft",
		"was-folder": "draft", "was-link/x": "draft", "linked": "link a", "new/draft": "draft", "sub/x": "1", "nested/.git/HEAD": "x", "nested/x": "1",
		"deps/lib/x": "1", "deps/lib/run": "program 1", "deps/l": "link lib/x", ".env": "KEY=1",
	}
	for range 2 { // it can be repeated after a kill
		must.Do(t, b.Fill(t.Context(), list, nil))
		if diff := cmp.Diff(want, look(t, b.Dir)); diff != "" {
			t.Errorf("the box (-want +got):\n%s", diff)
		}
	}
	for _, name := range []string{"a", "deps/lib/x", "nested/x"} {
		if got := must.Get(os.Stat(filepath.Join(b.Dir, name)))(t).ModTime(); !got.Equal(then) {
			t.Errorf("the time of %s is %v, want %v", name, got, then)
		}
	}
	for name, want := range map[string]fs.FileMode{".env": 0o600, "new/draft": 0o440, "tool": 0o755} {
		if got := must.Get(os.Stat(filepath.Join(b.Dir, name)))(t).Mode(); got != want {
			t.Errorf("the mode of %s is %v, want %v", name, got, want)
		}
	}
	if got := must.Get(b.Changed(t.Context(), []string{"a", "nested/", "new/draft", "sub"}))(t); len(got) > 0 {
		t.Errorf("%q have changed", got)
	}
	lay(t, b.Dir, files{"a": "2", "sub/x": "2", "nested/y": "2", "deps/lib/x": "2", "secret": "3"})
	if diff := cmp.Diff([]string{"a", "nested", "secret", "sub"}, must.Get(b.Changed(t.Context(), []string{"a", "nested/", "new/draft", "sub"}))(t)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// A folder without a repository is listed without ralph's own files, and without looking into a repository.
func TestList(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, files{"a": "1", "d/b": "link ../a", "d/e/c": "1", "nested/.git/HEAD": "x", "nested/x": "1", "sub/.git": "gitdir: x", "sub/y": "1", ".ralph/x": "1", ".ralph-active": "1"})
	if diff := cmp.Diff([]string{"a", "d/b", "d/e/c", "nested/", "sub/"}, must.Get(box.List(t.Context(), dir))(t)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

// What was delivered is taken back, where the user's file is still as it was delivered. Other work of the user's stays.
func TestUndo(t *testing.T) {
	const latin = "caf\xe9"
	start := files{"a": "1", "both": "1", "later": "1", "gone": "program 1", "was-file": "1", "was-folder/x": "1", latin: "1", "own": "1", "removed": "1"}
	b := filled(t, start)
	deliver := func(box files) {
		t.Helper()
		lay(t, b.Dir, box)
		must.Get(b.Bring(t.Context(), changed(t, b), mayAll))(t)
	}
	deliver(files{"a": "2", "both": "2", "gone": "gone", "new": "2", "d/new": "2", "link": "link a", "was-file": "gone", "was-file/x": "2"})
	lay(t, b.User, files{"own": "mine", "both": "mine"})
	deliver(files{"a": "3", "later": "3", "new": "gone", "was-folder": "3", latin: "3", "removed": "gone"})
	lay(t, b.User, files{"later": "mine", "d/mine": "mine", "removed/mine": "mine"})
	done := must.Get(b.Undo(t.Context()))(t)
	want := maps.Clone(start)
	maps.Copy(want, files{"own": "mine", "both": "mine", "later": "mine", "d/mine": "mine", "removed/mine": "mine"})
	delete(want, "removed")
	if diff := cmp.Diff(want, look(t, b.User)); diff != "" {
		t.Errorf("the user's folder (-want +got):\n%s", diff)
	}
	const since = "it was changed since"
	if diff := cmp.Diff([]box.Left{{Path: "both", Why: since}, {Path: "later", Why: since}, {Path: "removed", Why: since}}, done.Left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if again := must.Get(b.Undo(t.Context()))(t); len(again.Paths) > 0 {
		t.Errorf("the second time %q was taken back", again.Paths)
	}
	if diff := cmp.Diff(want, look(t, b.User)); diff != "" {
		t.Errorf("the user's folder, after the second time (-want +got):\n%s", diff)
	}
}

// A file that an agent makes larger than any that can be read stays in the box, in place of a file, too.
func TestLargeFilesStay(t *testing.T) {
	b := filled(t, files{"a": "1"})
	for _, name := range []string{"a", "new"} {
		lay(t, b.Dir, files{name: "2"})
		must.Do(t, os.Truncate(filepath.Join(b.Dir, name), 5<<30))
	}
	done := must.Get(b.Bring(t.Context(), changed(t, b), mayAll))(t)
	if diff := cmp.Diff([]box.Left{{Path: "a", Why: noFile}, {Path: "new", Why: noFile}}, done.Left); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(files{"a": "1"}, look(t, b.User)); diff != "" {
		t.Errorf("the user's folder (-want +got):\n%s", diff)
	}
}

// A kill between any two files of a delivery loses nothing that Undo needs, also if the delivery is repeated.
func TestUndoAfterAKill(t *testing.T) {
	start := files{"a": "1", "b": "1", "gone": "program 1", "was-file": "1"}
	b := filled(t, start)
	dir := filepath.Dir(b.Dir)
	var killed []box.Box // all that was on the disk then
	mayAllUntilKilled := func(string) string {
		k := below(t.TempDir())
		must.Do(t, os.CopyFS(filepath.Dir(k.Dir), os.DirFS(dir)))
		killed = append(killed, k)
		return ""
	}
	for _, work := range []files{
		{"a": "2", "b": "2", "gone": "gone", "new/x": "2", "was-file": "gone", "was-file/x": "2"},
		{"a": "3", "b": "3", "new/x": "gone", "gone": "3"},
	} {
		lay(t, b.Dir, work)
		must.Get(b.Bring(t.Context(), changed(t, b), mayAllUntilKilled))(t)
	}
	if len(killed) != 10 {
		t.Fatalf("%d paths were brought", len(killed))
	}
	for n, k := range killed {
		for _, again := range []bool{false, true} {
			if again {
				must.Get(k.Bring(t.Context(), changed(t, k), mayAll))(t)
			}
			done := must.Get(k.Undo(t.Context()))(t)
			if diff := cmp.Diff(start, look(t, k.User)); diff != "" || len(done.Left) > 0 {
				t.Errorf("killed at path %d, repeated: %t, left %v: the user's folder (-want +got):\n%s", n, again, done.Left, diff)
			}
		}
	}
}
