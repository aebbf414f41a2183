package laptop_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

func world(t *testing.T, home string) laptop.World {
	t.Helper()
	closing := new([]func())
	t.Cleanup(func() {
		for _, do := range *closing {
			do()
		}
	})
	env := map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}
	return laptop.World{
		Getenv: func(name string) string { return env[name] }, Environ: func() []string { return []string{"HOME=" + home, "PATH=" + env["PATH"]} },
		Runner: &process.Runner{}, Closing: closing,
	}
}

// Temporary files are kept out of the project, where an agent may write.
func TestTemp(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop, home := filepath.Join(top, "shop"), filepath.Join(top, "home")
	err = errors.Join(
		os.MkdirAll(filepath.Join(shop, "tmp"), 0o755), os.MkdirAll(filepath.Join(home, "tmp"), 0o755),
		os.Symlink(home, filepath.Join(shop, "out")), os.Symlink(shop, filepath.Join(top, "in")),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	for temp, want := range map[string]string{
		filepath.Join(home, "tmp"): filepath.Join(home, "tmp"), filepath.Join(top, "none"): filepath.Join(top, "none"),
		filepath.Join(shop, "tmp"): "/tmp", filepath.Join(top, "in", "tmp"): "/tmp", filepath.Join(shop, "out", "tmp"): "/tmp", "home/tmp": "/tmp",
	} {
		t.Setenv("TMPDIR", temp)
		if got := world(t, home).Temp(shop); got != want {
			t.Errorf("with TMPDIR %s: %s, want %s", temp, got, want)
		}
	}
}

// kill -9 leaves the temporary folder of a command. The next command removes it, and keeps those of living commands.
func TestTemporaryFoldersOfKilledCommandsAreRemoved(t *testing.T) {
	temp, project, w := t.TempDir(), t.TempDir(), world(t, t.TempDir())
	t.Setenv("TMPDIR", temp)
	left := filepath.Join(temp, "ralph-for-verify-1", "clean")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	alive, done, err := w.Room(project, "verify")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	_, other, err := w.Room(project, "verify")
	if err != nil {
		t.Fatal(err)
	}
	defer other()
	if _, err := os.Stat(left); err == nil {
		t.Errorf("%s is left", left)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("the folder of a living command: %v", err)
	}
}

// A relative folder of an agent is one in the project, for all that read the environment. Other variables stay.
func TestWorldInAProject(t *testing.T) {
	w := laptop.World{
		Getenv:  func(name string) string { return map[string]string{"CODEX_HOME": "cx", "PATH": "/bin"}[name] },
		Environ: func() []string { return []string{"CODEX_HOME=cx", "PATH=/bin"} },
	}.In("/project")
	if got := w.Environ(); !slices.Equal(got, []string{"CODEX_HOME=/project/cx", "PATH=/bin"}) {
		t.Errorf("the environment is %q", got)
	}
	if got := w.Getenv("CODEX_HOME") + " " + w.Getenv("PATH"); got != "/project/cx /bin" {
		t.Errorf("the variables are %q", got)
	}
}

// Without a word of the user, a run on macOS has Docker's sandbox, and never none.
func TestWanted(t *testing.T) {
	for _, test := range []struct {
		system string
		flags  laptop.Flags
		want   sandbox.Level
	}{
		{"linux", laptop.Flags{}, sandbox.Auto},
		{"darwin", laptop.Flags{}, laptop.InDocker},
		{"darwin", laptop.Flags{Sandbox: sandbox.Auto}, laptop.InDocker},
		{"darwin", laptop.Flags{Sandbox: sandbox.External}, sandbox.External},
		{"darwin", laptop.Flags{NoSandbox: true}, sandbox.None},
	} {
		d := laptop.Project{Flags: test.flags, World: world(t, t.TempDir())}
		d.World.System = test.system
		if got, err := d.Wanted(); got != test.want || err != nil {
			t.Errorf("on %s with %+v the level is %s, %v; want %s", test.system, test.flags, got, err, test.want)
		}
	}
	d := laptop.Project{Flags: laptop.Flags{Worktree: true}, World: world(t, t.TempDir())}
	d.World.System = "darwin"
	if _, err := d.Wanted(); !strings.Contains(fault.Hint(err), "--no-sandbox") {
		t.Errorf("with --worktree the hint of %v is %q", err, fault.Hint(err))
	}
}
