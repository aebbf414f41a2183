package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// repository returns a folder with a git folder, whose dangerous parts are read-only.
func repository(t *testing.T, level sandbox.Level) (w sandbox.Config, mended *[]string) {
	t.Helper()
	w = testConfig(t, level, users()[0])
	dir := w.Write[0]
	inside(t, w, process.Command{Argv: []string{"git", "init", "-q", "."}})
	inside(t, w, process.Command{Argv: []string{"sh", "-c", "echo '#!/bin/sh' > .git/hooks/pre-push; chmod 755 .git/hooks/pre-push; ln -s pre-push .git/hooks/link"}})
	mended = new([]string)
	w.Mended = func(list []string) { *mended = append(*mended, list...) }
	for _, name := range []string{".git/config", ".git/hooks", ".git/info", ".gitmodules"} {
		w.ReadOnly = append(w.ReadOnly, filepath.Join(dir, name))
	}
	return w, mended
}

// state returns all that lies in the read-only parts.
func state(t *testing.T, w sandbox.Config) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, root := range w.ReadOnly {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // it is not there
			}
			info, _ := d.Info()
			text, _ := os.ReadFile(path)
			to, _ := os.Readlink(path)
			found[path] = fmt.Sprint(info.Mode(), " ", untrusted.Names(info), " ", string(text), to)
			return nil
		})
	}
	return found
}

// vandals do what must not stay done.
var vandals = map[string]string{
	"append":          "echo '[core] pager = evil' >> .git/config",
	"replace":         "echo evil > new; mv -f new .git/config",
	"by git":          "git config core.fsmonitor ./evil",
	"a hook":          "echo evil > .git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout",
	"an edited hook":  "echo evil >> .git/hooks/pre-push",
	"modes":           "chmod 777 .git/hooks/pre-push; chmod 700 .git/hooks",
	"removed":         "rm -rf .git/hooks .git/config",
	"moved away":      "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/pre-push",
	"a link":          "rm -rf .git/hooks; mkdir evil; echo evil > evil/pre-push; ln -s ../evil .git/hooks",
	"a file instead":  "rm -rf .git/info; echo evil > .git/info",
	"modules":         "echo evil > .gitmodules",
	"a folder of it":  "mkdir .gitmodules; echo evil > .gitmodules/x",
	"other names":     "ln -f .git/config .git/COMMIT_EDITMSG; ln -f .git/hooks/pre-push .git/FETCH_HEAD",
	"git folder gone": "mv .git old-git; mkdir .git; echo evil > .git/config",
	"git folder link": "mv .git old-git; ln -s old-git .git; echo evil > .git/config",
}

func TestReadOnlyStaysAsItWas(t *testing.T) {
	for _, level := range connected() {
		for name, script := range vandals {
			if !short.Has(string(level) + " " + name) {
				continue
			}
			t.Run(string(level)+" "+name, func(t *testing.T) {
				w, mended := repository(t, level)
				before := state(t, w)
				inside(t, w, process.Command{Argv: []string{"sh", "-c", script}})
				if diff := cmp.Diff(before, state(t, w)); diff != "" {
					t.Errorf("it changed (-before +after):\n%s", diff)
				}
				if level == sandbox.Notify && len(*mended) == 0 {
					t.Error("there was no report that it was put back")
				}
			})
		}
	}
}

// While they run, too, where a mount holds it.
func TestReadOnlyIsReadOnlyInside(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		w, mended := repository(t, level)
		out, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", "git config a.b c; echo x > .git/hooks/x; rm -rf .git/hooks; cat .git/config | head -1; ls .git/hooks/pre-push"}})
		if !slices.Contains(lines(out), "[core]") || !slices.Contains(lines(out), ".git/hooks/pre-push") || len(*mended) != 0 {
			t.Errorf("inside: %s\nmended %q", out, *mended)
		}
	}
}

func TestWorkIsNotPutBack(t *testing.T) {
	for _, level := range connected() {
		w, mended := repository(t, level)
		out, res := inside(t, w, process.Command{Argv: []string{"sh", "-c", "echo x > f && git add f && git -c user.name=a -c user.email=a@example.org commit -qm x && git log --oneline | wc -l"}})
		if out != "1\n" || res.Exit != 0 || len(*mended) != 0 {
			t.Errorf("%s: exit %d, %s, mended %q", level, res.Exit, out, *mended)
		}
	}
}

// starved has the program find no descriptors, but for so many, once those
// inside are gone.
func starved(t *testing.T, w sandbox.Config, most uint64, c process.Command) error {
	t.Helper()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
			t.Fatal(err)
		}
		for _, f := range taken {
			_ = f.Close()
		}
	}()
	_, err := w.Run(func(ctx context.Context, c process.Command) (process.Result, error) {
		res, err := new(process.Runner).Run(ctx, c)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		for {
			f, full := os.Open(os.DevNull)
			if full != nil {
				return res, err
			}
			taken = append(taken, f)
		}
	})(t.Context(), c)
	return err
}

func vandal(w sandbox.Config) process.Command {
	return process.Command{
		Argv: []string{"sh", "-c", vandals["append"] + ";" + vandals["a hook"]}, Dir: w.Write[0],
		Env: []string{"PATH=/usr/bin:/bin"},
	}
}

// Who uses up all descriptors of ours, by connections to the proxies, leaves
// those that it takes to put things back.
func TestPutBackHasItsOwnDescriptors(t *testing.T) {
	w, mended := repository(t, sandbox.Notify)
	before := state(t, w)
	deep := vandal(w) // each folder on the way down takes one to remove
	deep.Argv[2] += "; mkdir -p .git/hooks/1/2/3/4/5/6/7/8"
	if err := starved(t, w, 256, deep); err != nil {
		t.Error(err)
	}
	if aside, err := filepath.Glob(filepath.Join(w.Write[0], ".git", "*put-aside*")); err != nil || len(aside) > 0 {
		t.Errorf("it was moved aside: %q, %v", aside, err)
	}
	if diff := cmp.Diff(before, state(t, w)); diff != "" || len(*mended) == 0 {
		t.Errorf("mended %q, it changed (-before +after):\n%s", *mended, diff)
	}
}

// What cannot be put back is no success, no matter what the program's end was.
func TestWhatIsNotPutBackIsTold(t *testing.T) {
	w, _ := repository(t, sandbox.Notify)
	err := starved(t, w, 0, vandal(w))
	if !errors.Is(err, putback.ErrNotPutBack) || fault.Exit(err) != fault.ExitUsage || fault.Hint(err) == "" {
		t.Errorf("%v\nhint: %s", err, fault.Hint(err))
	}
}

// A folder that even its owner may not open cannot be used to stay.
func TestClosedFoldersAreMovedAside(t *testing.T) {
	w, mended := repository(t, sandbox.Notify)
	before := state(t, w)
	inside(t, w, process.Command{Argv: []string{"sh", "-c", "mkdir -p .git/hooks/deep/er; chmod 0 .git/hooks/deep; " + vandals["a hook"]}})
	if diff := cmp.Diff(before, state(t, w)); diff != "" || len(*mended) == 0 {
		t.Errorf("mended %q, it changed (-before +after):\n%s", *mended, diff)
	}
}
