package confine_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// A canary of a killed program is removed at the next start; one of a program that is still at it stays.
func TestCanariesOfKilledProgramsAreRemoved(t *testing.T) {
	project := t.TempDir()
	left, held, young := filepath.Join(project, ".ralph-canary-1"), filepath.Join(project, ".ralph-canary-2"), filepath.Join(project, ".ralph-canary-3")
	for path, text := range map[string]string{left: "RALPH-CANARY-X", held: "RALPH-CANARY-Y", young: ""} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Open(held)
	if err == nil {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = confine.Start(t.Context(), confine.Options{
		Level: sandbox.Namespace, Exec: nothing, Temp: t.TempDir(), Home: t.TempDir(), Private: []string{project}, Above: []string{project},
	})
	if kept, err := filepath.Glob(filepath.Join(project, ".ralph-canary-*")); err != nil || !slices.Equal(kept, []string{held, young}) {
		t.Errorf("kept %q, %v", kept, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

// The attack at the start tries to read the project of an agent with a tree of its own,
// also where another sandboxed command may work in the project.
func TestTheProjectIsAttacked(t *testing.T) {
	project := t.TempDir()
	found := 0
	temp := t.TempDir()
	look := func(ctx context.Context, c process.Command) (process.Result, error) {
		laid, err := filepath.Glob(filepath.Join(project, ".ralph-canary-*"))
		if err != nil {
			t.Error(err)
		}
		found += len(laid)
		inside, _ := filepath.Glob(filepath.Join(temp, "ralph-inside-*")) // it is well formed
		for _, dir := range inside {                                      // no other user of a laptop goes there
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%s: %v, %v", dir, info, err)
			}
		}
		return nothing(ctx, c)
	}
	sb, err := confine.Start(t.Context(), confine.Options{
		Level: sandbox.Namespace, Exec: look, Temp: temp, Home: t.TempDir(), Private: []string{project}, Above: []string{project},
	})
	if sb != nil && err == nil {
		t.Fatal("it stands")
	}
	if found == 0 {
		t.Error("no canary lies in the project when the attack begins")
	}
	if left, err := os.ReadDir(project); err != nil || len(left) > 0 {
		t.Errorf("the attack left %v, %v", left, err)
	}
}

// Before anything runs inside, there are the threads that the program may need: those inside can take all processes.
func TestThreadsAreInReserve(t *testing.T) {
	first := 0
	look := func(ctx context.Context, c process.Command) (process.Result, error) {
		if threads, err := os.ReadDir("/proc/self/task"); first == 0 && err == nil {
			first = len(threads)
		}
		return nothing(ctx, c)
	}
	_, _ = confine.Start(t.Context(), confine.Options{Level: sandbox.Namespace, Exec: look, Temp: t.TempDir(), Home: t.TempDir()})
	if least := runtime.GOMAXPROCS(0) + 32; first < least {
		t.Errorf("at the first command there are %d threads, want %d", first, least)
	}
}
