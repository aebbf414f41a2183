package workspace_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
)

const lodging = "ralph-lodging-"

// lodgingKey makes this test binary make a temporary folder there and wait until it
// is killed.
const lodgingKey = "WORKSPACE_TEST_LODGE"

func lodge(parent string) {
	made, err := workspace.NewTemporary(parent, lodging)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(made.Path, "fetched", "module"), 0o755), os.Chmod(filepath.Join(made.Path, "fetched"), 0o500))
	}
	if err != nil {
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, made.Path+"\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// lodger starts such a program, and returns its folder.
func lodger(t *testing.T, parent string) (dir string, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), lodgingKey+"="+parent)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = in.Close()
	}
	t.Cleanup(func() {
		kill()
		workspace.Sweep(parent, lodging) // an ordinary user cannot remove what is closed
	})
	line := make([]byte, 4096)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(line[:n])), kill
}

// Sweep removes the folders of killed programs, but no locked folder, however old it
// is, and no folder of another user.
func TestSweepTakesUnlockedFolders(t *testing.T) {
	parent := t.TempDir()
	left, kill := lodger(t, parent)
	held, _ := lodger(t, parent)
	ours, err := workspace.NewTemporary(parent, lodging)
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(parent, "kept")
	link := filepath.Join(parent, lodging+"link")
	file := filepath.Join(parent, lodging+"file")
	err = errors.Join(os.Mkdir(kept, 0o755), os.WriteFile(filepath.Join(kept, "it"), nil, 0o644), os.Symlink(kept, link), os.WriteFile(file, nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, filepath.Join(left, "way-out")); err != nil {
		t.Fatal(err)
	}
	kill()
	workspace.Sweep(parent, lodging)
	want := []string{held, ours.Path, kept, link, file}
	slices.Sort(want)
	if got, err := filepath.Glob(filepath.Join(parent, "*")); !slices.Equal(got, want) || err != nil {
		t.Errorf("there are %q, %v; want %q", got, err, want)
	}
	if _, err := os.Stat(filepath.Join(kept, "it")); err != nil {
		t.Error("a link led out of it:", err)
	}
	if err := ours.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ours.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is still there:", err)
	}
	workspace.Sweep(parent, lodging)
	if _, err := os.Stat(held); err != nil {
		t.Error("what is held was taken:", err)
	}
}

// Root, too, removes no folder of another user.
func TestSweepLeavesWhatIsAnothers(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only root can make such a folder
	}
	parent := t.TempDir()
	theirs := filepath.Join(parent, lodging+"theirs")
	if err := errors.Join(os.Mkdir(theirs, 0o755), os.Chown(theirs, 1500, 1500)); err != nil {
		t.Fatal(err)
	}
	workspace.Sweep(parent, lodging)
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
}
