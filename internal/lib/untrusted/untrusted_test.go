package untrusted_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

func open(t *testing.T, dir string) *untrusted.Root {
	t.Helper()
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hostile lays everything that an agent may put instead of a file.
func hostile(t *testing.T) (*untrusted.Root, []string) {
	t.Helper()
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666))
	must(t, os.Symlink("pipe", filepath.Join(dir, "link to a pipe")))
	must(t, os.Symlink("/dev/tty", filepath.Join(dir, "link to a device")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { syscall.Close(socket) })
	t.Chdir(dir) // a socket's path is short
	must(t, syscall.Bind(socket, &syscall.SockaddrUnix{Name: "socket"}))
	return open(t, dir), []string{"pipe", "link to a pipe", "link to a device", "loop", "folder", "socket"}
}

// What is created is a new file, no matter what had its name: only a folder stays.
func TestCreate(t *testing.T) {
	root, names := hostile(t)
	must(t, root.WriteFile("protected", []byte("x"), 0o644))
	must(t, os.Symlink("protected", filepath.Join(root.Name(), "link")))
	must(t, os.Link(filepath.Join(root.Name(), "protected"), filepath.Join(root.Name(), "hard link")))
	for _, name := range append(names, "link", "hard link") {
		file, err := root.Create(name)
		if (err == nil) != (name != "folder") {
			t.Errorf("Create of a %s: %v", name, err)
		}
		if err == nil {
			must(t, file.Close())
		}
	}
	must(t, os.Remove(filepath.Join(root.Name(), "link")))
	must(t, os.Symlink("protected", filepath.Join(root.Name(), "link")))
	must(t, os.Link(filepath.Join(root.Name(), "protected"), filepath.Join(root.Name(), "second name")))
	for _, name := range []string{"link", "second name"} {
		if err := root.WriteFile(name, nil, 0o644); !errors.Is(err, untrusted.ErrNotPlain) {
			t.Errorf("WriteFile of a %s: %v", name, err)
		}
	}
	if text, err := root.ReadFile("protected", 1); string(text) != "x" {
		t.Errorf("a file with other names is %q, %v", text, err)
	}
}

// A folder that a link has replaced, or one above it, is not opened by its path.
func TestOpenStraight(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	tasks, victim := filepath.Join(top, "tasks"), filepath.Join(top, "victim")
	must(t, os.MkdirAll(filepath.Join(tasks, "t1"), 0o755))
	must(t, os.MkdirAll(filepath.Join(victim, "t1"), 0o755))
	root, err := untrusted.OpenStraight(filepath.Join(tasks, "t1"))
	must(t, err)
	must(t, root.Close())
	must(t, os.Rename(tasks, tasks+"0"))
	must(t, os.Symlink(victim, tasks))
	if root, err := untrusted.OpenStraight(filepath.Join(tasks, "t1")); !errors.Is(err, untrusted.ErrMoved) {
		t.Errorf("OpenStraight = %v, %v; want ErrMoved", root, err)
	}
}

// Nothing but a plain file is opened, and no call waits for it.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	root, names := hostile(t)
	for _, name := range names {
		for what, do := range map[string]func() error{
			"ReadFile":  func() error { _, err := root.ReadFile(name, 1<<20); return err },
			"WriteFile": func() error { return root.WriteFile(name, []byte("x"), 0o644) },
			"Open":      func() error { _, err := root.Open(name); return err },
			"append": func() error {
				_, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
				return err
			},
			"by its path": func() error {
				_, err := untrusted.ReadFile(filepath.Join(root.Name(), name), 1<<20)
				return err
			},
		} {
			if err := do(); err == nil {
				t.Errorf("%s of a %s was no error", what, name)
			}
		}
		if name == "folder" {
			continue
		}
		for what, do := range map[string]func() error{
			"OpenRoot":        func() error { _, err := untrusted.OpenRoot(filepath.Join(root.Name(), name)); return err },
			"OpenRoot within": func() error { _, err := root.OpenRoot(name); return err },
			"ReadDir":         func() error { _, err := root.ReadDir(name); return err },
		} {
			if err := do(); err == nil || strings.Contains(err.Error(), "/.:") {
				t.Errorf("%s of a %s = %v, want an error that names it", what, name, err)
			}
		}
	}
	if _, err := root.ReadFile("pipe", 1); !errors.Is(err, untrusted.ErrNotPlain) {
		t.Errorf("a pipe: %v", err)
	}
	if _, err := untrusted.OpenRoot(""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no name at all: %v", err)
	}
}

// A pipe that somebody reads from can be opened for writing, and is still none
// of our files.
func TestAPipeWithAReaderIsNotWrittenTo(t *testing.T) {
	root, _ := hostile(t)
	reader, err := os.OpenFile(filepath.Join(root.Name(), "pipe"), os.O_RDWR, 0)
	must(t, err)
	defer reader.Close()
	if err := root.WriteFile("pipe", []byte("secret"), 0o644); !errors.Is(err, untrusted.ErrNotPlain) {
		t.Errorf("WriteFile = %v", err)
	}
}

func TestReadFile(t *testing.T) {
	root := open(t, t.TempDir())
	must(t, root.WriteFile("file", []byte("four"), 0o600))
	must(t, root.WriteFile("file", []byte("two"), 0o600))
	must(t, root.Symlink("file", "link"))
	must(t, root.WriteFile("sparse", nil, 0o600))
	must(t, os.Truncate(filepath.Join(root.Name(), "sparse"), 1<<40))
	for name, want := range map[string]error{"file": nil, "link": untrusted.ErrNotPlain, "sparse": untrusted.ErrLarger, "none": fs.ErrNotExist} {
		if data, err := root.ReadFile(name, 3); !errors.Is(err, want) || want == nil && string(data) != "two" {
			t.Errorf("ReadFile(%q) = %q, %v, want %v", name, data, err, want)
		}
	}
	if _, err := root.ReadFile("file", 2); !errors.Is(err, untrusted.ErrLarger) {
		t.Errorf("one byte too many: %v", err)
	}
	_, err := untrusted.ReadFile(filepath.Join(root.Name(), "sparse"), 10<<20)
	if want := "it is larger than 10 MiB"; err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
}

// nest makes folders below each other, deeper than a path can say.
func nest(t *testing.T, dir string, depth int) {
	t.Helper()
	at, err := os.OpenRoot(dir)
	must(t, err)
	for range depth {
		must(t, at.Mkdir("d", 0o755))
		below, err := at.OpenRoot("d")
		must(t, errors.Join(err, at.Close()))
		at = below
	}
	must(t, errors.Join(at.WriteFile("file", nil, 0o600), at.Close()))
}

func TestWalk(t *testing.T) {
	root := open(t, t.TempDir())
	for _, name := range []string{"a/b/c", "a/skipped/d", "e"} {
		must(t, root.MkdirAll(filepath.Dir(name), 0o755))
		must(t, root.WriteFile(name, []byte(name), 0o600))
	}
	must(t, root.Symlink("..", "a/link"))
	for top, want := range map[string][]string{
		".":    {".", "a", "a/b", "a/b/c a/b/c", "a/link", "a/skipped", "e e"},
		"a/b":  {"a/b", "a/b/c a/b/c"},
		"none": {"none: gone"},
	} {
		var got []string
		must(t, root.Walk(t.Context(), top, func(e untrusted.Entry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				got = append(got, e.Path+": gone")
			case err != nil:
				return err
			case e.Info.Mode().IsRegular():
				text, err := e.In.ReadFile(e.Name, 100)
				got = append(got, e.Path+" "+string(text))
				return err
			default:
				got = append(got, e.Path)
			}
			if e.Path == "a/skipped" {
				return fs.SkipDir
			}
			return nil
		}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", top, diff)
		}
	}
}

// Deep folders are reported and not entered; the walk ends with the context.
func TestWalkIsBounded(t *testing.T) {
	root := open(t, t.TempDir())
	nest(t, root.Name(), 600)
	seen, deep := 0, 0
	must(t, root.Walk(t.Context(), ".", func(_ untrusted.Entry, err error) error {
		if seen++; errors.Is(err, untrusted.ErrTooDeep) {
			deep++
		}
		return nil
	}))
	if seen > 300 || deep != 1 {
		t.Errorf("%d seen, too deep %d times, want few and once", seen, deep)
	}
	ctx, end := context.WithCancel(t.Context())
	seen = 0
	err := root.Walk(ctx, ".", func(untrusted.Entry, error) error { seen++; end(); return nil })
	if !errors.Is(err, context.Canceled) || seen != 1 {
		t.Errorf("Walk = %v after %d, want to have ended after the first", err, seen)
	}
	must(t, untrusted.RemoveAll(filepath.Join(root.Name(), "d")))
}

// Folders that are deep or closed do not keep a tree, and what links lead to stays.
func TestRemoveAll(t *testing.T) {
	root, names := hostile(t)
	must(t, root.Mkdir("gone", 0o755))
	nest(t, filepath.Join(root.Name(), "gone"), 600)
	must(t, root.MkdirAll("gone/closed/in it", 0o755))
	must(t, root.WriteFile("gone/closed/in it/file", nil, 0o400))
	must(t, root.Chmod("gone/closed/in it", 0o500))
	must(t, root.Chmod("gone/closed", 0))
	must(t, root.Symlink("../folder", "gone/link"))
	must(t, root.WriteFile("folder/stays", nil, 0o600))
	must(t, syscall.Mkfifo(filepath.Join(root.Name(), "gone", "pipe"), 0o600))
	must(t, root.RemoveAll("gone"))
	must(t, root.RemoveAll("gone")) // nothing is there any more
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return name == "folder" }) {
		must(t, untrusted.RemoveAll(filepath.Join(root.Name(), name)))
	}
	list, err := root.ReadDir(".")
	if err != nil || len(list) != 1 || list[0].Name() != "folder" {
		t.Errorf("left: %v, %v", list, err)
	}
	if _, err := root.Lstat("folder/stays"); err != nil {
		t.Error("what a link led to is gone:", err)
	}
	must(t, root.RemoveAll("none/below"))
}

// A name below a file is not there: the refs of a git repository can be such a file (reftable).
func TestRemoveBelowAFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "heads"), nil, 0o600))
	must(t, untrusted.Folder{Path: dir}.Remove("heads/main.lock"))
}

// wide makes folders in each other, and so many long names in each.
func wide(t *testing.T, dir string, depth, names int) {
	t.Helper()
	for range depth {
		must(t, os.Mkdir(dir, 0o700))
		for n := range names {
			must(t, os.WriteFile(filepath.Join(dir, strings.Repeat("n", 100)+strconv.Itoa(n)), nil, 0o600))
		}
		dir = filepath.Join(dir, "!") // before its neighbours
	}
}

// The names that a walk keeps have one bound in all folders, which is told. What it has passed does not count.
func TestWalkKeepsFewNames(t *testing.T) {
	t.Cleanup(untrusted.SetBound(10_000)) // 45 names and more
	root := open(t, t.TempDir())
	for n := range 5 {
		wide(t, filepath.Join(root.Name(), strconv.Itoa(n)), 2, 20)
	}
	for depth, want := range map[int]int{0: 0, 5: 1} {
		wide(t, filepath.Join(root.Name(), "deep"), depth, 20)
		seen, crowded := 0, 0
		must(t, root.Walk(t.Context(), ".", func(_ untrusted.Entry, err error) error {
			if seen++; errors.Is(err, untrusted.ErrCrowded) {
				crowded++
			}
			return nil
		}))
		if crowded < want || want == 0 && (crowded > 0 || seen != 1+5*2*21) {
			t.Errorf("%d folders in each other: %d seen, %d crowded, want at least %d", depth, seen, crowded, want)
		}
		must(t, root.RemoveAll("deep"))
	}
}
