package process_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

func TestRunTellsHowItEnded(t *testing.T) {
	tests := []struct {
		name string
		c    process.Command
		want process.Result
	}{
		{"success", playing("exit", "0"), process.Result{}},
		{"failure", playing("exit", "7"), process.Result{Exit: 7}},
		{"killed", playing("signal", "9"), process.Result{Exit: 137, Signal: "SIGKILL"}},
		{"terminated", playing("signal", "15"), process.Result{Exit: 143, Signal: "SIGTERM"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := time.Unix(1000, 0)
			r := process.Runner{Now: func() time.Time { at = at.Add(3 * time.Second); return at }}
			tt.want.Took = 3 * time.Second
			got, err := r.Run(t.Context(), tt.c)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("Run: %v, result (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestRunThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plain"), "no program\n", 0o644)
	write(t, filepath.Join(dir, "orphaned"), "#!/nonexistent/interpreter\n", 0o755)
	write(t, filepath.Join(dir, "formless"), "no program\n", 0o755)
	write(t, filepath.Join(dir, "relative", "tool"), "#!/bin/sh\n", 0o755)
	path := []string{"PATH=" + dir}
	tests := []struct {
		name string
		c    process.Command
		want error
		says string
	}{
		{"no name", process.Command{}, nil, "no program named"},
		{"no PATH at all", process.Command{Argv: []string{"sh"}}, exec.ErrNotFound, `"sh"`},
		{"not in PATH", process.Command{Argv: []string{"sh"}, Env: path}, exec.ErrNotFound, `"sh"`},
		{"no such path", process.Command{Argv: []string{"./nothing"}, Dir: dir}, exec.ErrNotFound, "nothing"},
		{"relative PATH", process.Command{Argv: []string{"tool"}, Dir: dir, Env: []string{"PATH=relative"}}, exec.ErrNotFound, `"tool"`},
		{"not executable", process.Command{Argv: []string{"plain"}, Env: path}, fs.ErrPermission, "plain"},
		{"a directory", process.Command{Argv: []string{dir}}, fs.ErrPermission, dir},
		{"and it is said", process.Command{Argv: []string{dir}}, process.ErrFolder, "it is a folder"},
		{"no interpreter", process.Command{Argv: []string{"orphaned"}, Env: path}, exec.ErrNotFound, "interpreter"},
		{"no program at all", process.Command{Argv: []string{"formless"}, Env: path}, syscall.ENOEXEC, "exec format"},
		{"no directory", process.Command{Argv: []string{"/bin/sh"}, Dir: dir + "/gone"}, fs.ErrNotExist, "working directory"},
		{"directory a file", process.Command{Argv: []string{"/bin/sh"}, Dir: dir + "/plain"}, nil, "not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := new(process.Runner).Run(t.Context(), tt.c)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("Run = %v, want %v that says %q", err, tt.want, tt.says)
			}
			hopeless := errors.Is(tt.want, exec.ErrNotFound) || errors.Is(tt.want, fs.ErrPermission) || errors.Is(tt.want, syscall.ENOEXEC)
			if process.CannotStart(err) != hopeless {
				t.Errorf("CannotStart(%v) = %t, want %t", err, !hopeless, hopeless)
			}
		})
	}
}

func TestRunFindsTheProgramInItsOwnPath(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "tool"), "not runnable\n", 0o644)
	write(t, filepath.Join(dir, "b", "tool"), "#!/bin/sh\necho from b in $PWD\n", 0o755)
	resolved, _ := filepath.EvalSymlinks(dir)
	for _, name := range []string{"tool", "b/tool"} { // a path is from its folder, not from ours
		var out bytes.Buffer
		_, err := new(process.Runner).Run(t.Context(), process.Command{
			Argv: []string{name}, Dir: dir, Stdout: &out,
			Env: []string{"PATH=/nonexistent", "PATH=" + dir + "/a:" + dir + "/b"},
		})
		if want := "from b in " + resolved + "\n"; out.String() != want || err != nil {
			t.Errorf("%s printed %q, %v, want %q", name, out.String(), err, want)
		}
	}
}

func TestPathOutside(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	err = errors.Join(
		os.MkdirAll(at("project/bin"), 0o755), os.MkdirAll(at("projects/bin"), 0o755), os.MkdirAll(at("usual"), 0o755),
		os.MkdirAll(at("linked"), 0o755), os.Symlink(at("project/tool"), at("linked/git")), os.Symlink("git", at("usual/same")),
		os.MkdirAll(at("far/off"), 0o755), os.Symlink("../../project/tool", at("far/off/git")), os.Symlink(at("far/off"), at("leads-far")),
		os.MkdirAll(at("around"), 0o755), os.Symlink(at("leads-in/tool"), at("around/git")),
		os.Symlink(at("project/bin"), at("leads-in")), os.Symlink(at("usual"), at("leads")), os.Symlink(at("usual"), at("project/leads-out")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"usual": "usual", "projects/bin": "projects/bin", "leads": "usual", "project": "", "project/bin": "", "leads-in": "",
		"linked": "", "around": "", "leads-far": "", // one program is theirs to say
		"project/leads-out":      "", // where it leads is what somebody in the project says
		"project/../project/bin": "", "missing": "", "missing/../usual": "",
	} {
		got := process.PathOutside(at(".")+"/"+path, []string{at("project")}, at("project"))
		if want != "" {
			want = at(want)
		}
		if got != want {
			t.Errorf("PathOutside(%q) = %q, want %q", path, got, want)
		}
	}
	if got := process.PathOutside("bin::.:"+at("usual")+":/", []string{at("project")}); got != at("usual")+":/" {
		t.Errorf("relative folders: %q", got)
	}
	if got := process.PathOutside(at("linked"), []string{at("project")}); got != at("linked") {
		t.Errorf("a link into another folder: %q", got)
	}
}

func TestGrace(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	urgent, end := context.WithCancelCause(t.Context())
	end(errors.Join(errors.New("over"), process.ErrNoGrace))
	for _, tt := range []struct {
		ctx          context.Context
		grace, haste time.Duration
		want         time.Duration
	}{
		{t.Context(), 0, 0, 5 * time.Second},
		{t.Context(), 0, time.Second, 5 * time.Second},
		{t.Context(), time.Minute, time.Second, time.Minute},
		{over, 0, 0, 5 * time.Second},
		{over, time.Minute, 0, time.Minute},
		{over, time.Minute, time.Second, time.Second},
		{urgent, time.Minute, time.Second, 100 * time.Millisecond},
	} {
		c := process.Command{Grace: tt.grace, CancelGrace: tt.haste}
		if got := process.GraceOf(tt.ctx, c); got != tt.want {
			t.Errorf("grace %s, haste %s, over %t: %s, want %s", tt.grace, tt.haste, tt.ctx.Err() != nil, got, tt.want)
		}
	}
}

func TestRunInheritsNothing(t *testing.T) {
	t.Setenv("RALPH_TEST_SECRET", "s3cret")
	var out process.Tail
	out.N = 1 << 16
	c := playing("env")
	c.Env = append(c.Env, "A=1", "A=2")
	c.Stdout = &out
	if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	_, err := new(process.Runner).Run(t.Context(), process.Command{Argv: []string{"/usr/bin/env"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{roleKey + "=env", quickExit, "A=2"}, strings.Fields(out.String())); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestRunConnectsTheStreams(t *testing.T) {
	t.Run("input", func(t *testing.T) {
		c, out := playing("cat"), new(bytes.Buffer)
		text := strings.Repeat("ralph\n", 100_000)
		c.Stdin, c.Stdout = strings.NewReader(text), out
		_, err := new(process.Runner).Run(t.Context(), c)
		if out.String() != text || err != nil {
			t.Errorf("cat gave %d bytes, %v, want %d", out.Len(), err, len(text))
		}
	})
	t.Run("no input", func(t *testing.T) {
		c, out := playing("cat"), new(bytes.Buffer)
		c.Stdout = out
		if _, err := new(process.Runner).Run(t.Context(), c); out.Len() != 0 || err != nil {
			t.Errorf("cat gave %q, %v, want nothing", out, err)
		}
	})
	t.Run("unread input", func(t *testing.T) {
		c := playing("exit", "0")
		c.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
		if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
			t.Errorf("Run = %v, want no error", err)
		}
	})
	t.Run("files", func(t *testing.T) {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		c := process.Command{Argv: []string{"/bin/sh", "-c", "echo one; echo three >&3"}, Stdout: f, Files: []*os.File{f}}
		if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(f.Name())
		if string(got) != "one\nthree\n" || err != nil {
			t.Errorf("file holds %q, %v", got, err)
		}
	})
}

func TestRunRefusesWhenItIsTooLate(t *testing.T) {
	why := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := new(process.Runner).Run(ctx, playing("exit", "0"))
	if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("Run = %v, want both canceled and its cause", err)
	}
	hard := make(chan struct{})
	close(hard)
	_, err = (&process.Runner{Hard: hard}).Run(t.Context(), playing("exit", "0"))
	if !errors.Is(err, process.ErrStopped) {
		t.Errorf("Run = %v, want %v", err, process.ErrStopped)
	}
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
