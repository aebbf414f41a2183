package confine_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
)

// begin keeps the git folder of a project as it stands, as a command in the sandbox does.
func begin(t *testing.T, home, top string) func(done bool) error {
	t.Helper()
	mark := func() ([][]byte, func([]byte) (func(bool) error, error), error) {
		return nil, func(text []byte) (func(bool) error, error) { return confine.Mark(home, text) }, nil
	}
	kept, err := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: filepath.Join(top, ".git"), But: []string{"HEAD"}}}, Mark: mark}.Keep()
	if err != nil {
		t.Fatal(err)
	}
	return func(done bool) error {
		if done {
			return kept.PutBack(nil)
		}
		return kept.Close()
	}
}

func wantRecovered(t *testing.T, home string, want ...string) {
	t.Helper()
	moved, _, err := confine.Recover(home)
	if diff := cmp.Diff(want, moved); diff != "" || err != nil {
		t.Errorf("moved %v (-want +got):\n%s", err, diff)
	}
}

func wantMarks(t *testing.T, home string, want int) {
	t.Helper()
	if left, err := os.ReadDir(filepath.Join(home, ".local/state/ralph/guards")); err != nil || len(left) != want {
		t.Errorf("left are %v, %v; want %d", left, err, want)
	}
}

func plant(t *testing.T, top string) string {
	t.Helper()
	planted := filepath.Join(top, ".git", "commondir")
	if err := errors.Join(os.MkdirAll(filepath.Dir(planted), 0o755), os.WriteFile(planted, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return planted
}

const killedIn = "RALPH_TEST_KILLED_IN"

// What an agent added to .git whose ralph was killed is moved aside, once; what the user adds then stays.
func TestRecoverAfterAKill(t *testing.T) {
	if dir := os.Getenv(killedIn); dir != "" {
		begin(t, filepath.Join(dir, "home"), filepath.Join(dir, "shop"))
		plant(t, filepath.Join(dir, "shop"))
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	dir := t.TempDir()
	home, top := filepath.Join(dir, "home"), filepath.Join(dir, "shop")
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRecoverAfterAKill$")
	again.Env = append(os.Environ(), killedIn+"="+dir)
	if out, err := again.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed: %s", out)
	}
	wantRecovered(t, home, filepath.Join(top, ".git", "commondir"))
	wantMarks(t, home, 0)
	plant(t, top)
	wantRecovered(t, home)
}

// What could not be put back after a command is put back by the next ralph, also what was changed.
func TestRecoverAfterAFailure(t *testing.T) {
	home, top := t.TempDir(), t.TempDir()
	config := filepath.Join(top, ".git", "config")
	if err := errors.Join(os.Mkdir(filepath.Dir(config), 0o755), os.WriteFile(config, []byte("user's"), 0o600)); err != nil {
		t.Fatal(err)
	}
	end := begin(t, home, top)
	if err := errors.Join(os.WriteFile(config, []byte("agent's"), 0o600), end(false)); err != nil {
		t.Fatal(err)
	}
	if _, restored, err := confine.Recover(home); !cmp.Equal(restored, []string{config}) || err != nil {
		t.Errorf("restored %q, %v", restored, err)
	}
	if text, err := os.ReadFile(config); string(text) != "user's" {
		t.Errorf("the file says %q, %v", text, err)
	}
	wantMarks(t, home, 0)
}

// While a command runs, nothing is moved for it; of two at once, one that ended does not take the other's mark along.
func TestRecoverWhileCommandsRun(t *testing.T) {
	home, top := t.TempDir(), t.TempDir()
	first := begin(t, home, top)
	planted := plant(t, top)
	second := begin(t, home, top)
	wantRecovered(t, home)
	if err := second(true); err != nil {
		t.Error(err)
	}
	wantMarks(t, home, 1)
	if err := first(false); err != nil { // as a kill leaves it
		t.Error(err)
	}
	wantRecovered(t, home, planted)
	wantMarks(t, home, 0)
}

// What a command that runs may not change in a folder, a second one may not change there, which need not find it.
func TestListed(t *testing.T) {
	home, top, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(top, link); err != nil {
		t.Fatal(err)
	}
	end := begin(t, home, top)
	sb := confine.Caching(home)
	want := confine.Access{Write: []string{link}, Guarded: []guarded.Guard{{Dir: filepath.Join(link, ".git"), But: []string{"HEAD"}}}}
	for _, write := range []string{link, home, filepath.Join(top, "below")} {
		if write != link {
			want = confine.Access{Write: []string{write}}
		}
		got, err := sb.Listed(func() confine.Access { return confine.Access{Write: []string{write}} })
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	name := []guarded.Guard{{Dir: filepath.Join(top, ".git"), But: []string{"."}}} // which may only not become a link
	if got, err := sb.Listed(func() confine.Access { return confine.Access{Write: []string{top}, Guarded: name} }); len(got.Guarded) != 2 || err != nil {
		t.Errorf("beside a weaker guard it guards %v, %v", got.Guarded, err)
	}
	if err := end(true); err != nil {
		t.Fatal(err)
	}
	if got, err := sb.Listed(func() confine.Access { return confine.Access{Write: []string{top}} }); len(got.Guarded) > 0 || err != nil {
		t.Errorf("after its end it guards %v, %v", got.Guarded, err)
	}
}

// An incomplete mark is removed. A foreign file among the marks stops ralph, and the hint names it.
func TestForeignMarks(t *testing.T) {
	for name, put := range map[string]func(string) error{
		"a folder": func(name string) error { return os.Mkdir(name, 0o700) },
		"a link":   func(name string) error { return os.Symlink("/etc/passwd", name) },
	} {
		home := t.TempDir()
		marks := filepath.Join(home, ".local/state/ralph/guards")
		err := errors.Join(os.MkdirAll(marks, 0o700), os.WriteFile(filepath.Join(marks, "broken"), []byte("x"), 0o600), put(filepath.Join(marks, "foreign")))
		if err != nil {
			t.Fatal(err)
		}
		if moved, _, err := confine.Recover(home); len(moved) > 0 || !strings.Contains(fault.Hint(err), filepath.Join(marks, "foreign")) {
			t.Errorf("%s: moved %q, %v", name, moved, err)
		}
		wantMarks(t, home, 1)
	}
}

// Without a mark, no command starts.
func TestMarkThatCannotBeWritten(t *testing.T) {
	home := t.TempDir()
	state := filepath.Join(home, ".local/state")
	if err := errors.Join(os.MkdirAll(state, 0o700), os.WriteFile(filepath.Join(state, "ralph"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := confine.Mark(home, []byte("x")); fault.Exit(err) != fault.ExitUsage || fault.Hint(err) == "" {
		t.Errorf("%v, hint %q", err, fault.Hint(err))
	}
	wantRecovered(t, "")
}

// A command above may have changed what two commands below found: the record of it counts at the end of both, also if
// it ended before the second began.
func TestRecordsOfACommandAbove(t *testing.T) {
	above := [][]byte{[]byte("record")}
	var settled [][][]byte
	begin := confine.Marking(t.TempDir(), confine.Records{
		Above: func([]string, string) ([][]byte, error) { return above, nil },
		Settle: func(folders []string, records [][]byte) ([]string, error) {
			settled = append(settled, records)
			return folders, nil
		},
	})
	first, _ := begin([]string{"below"})
	above = nil
	second, told := begin([]string{"below"})
	if err := errors.Join(first(true), second(true)); err != nil {
		t.Fatal(err)
	}
	record := [][]byte{[]byte("record")}
	if diff := cmp.Diff([][][]byte{record, record}, settled); diff != "" || len(told()) != 2 {
		t.Errorf("told %v; settled (-want +got):\n%s", told(), diff)
	}
	third, _ := begin([]string{"below"})
	if err := third(true); err != nil || len(settled) != 2 {
		t.Errorf("settled by a record that is gone: %v, %v", settled, err)
	}
}

// Each command takes over the records of those before it. They do not become more by that.
func TestRecordsAreTakenOverOnce(t *testing.T) {
	home := t.TempDir()
	begin := confine.Marking(home, confine.Records{Above: func([]string, string) ([][]byte, error) { return [][]byte{make([]byte, 1000)}, nil }})
	for range 8 {
		begin(nil)
	}
	marks, err := filepath.Glob(filepath.Join(home, ".local/state/ralph/guards/*"))
	if err != nil || len(marks) != 8 {
		t.Fatalf("%d marks, %v, want 8", len(marks), err)
	}
	for _, mark := range marks {
		if file, err := os.Stat(mark); err != nil || file.Size() > 1500 {
			t.Errorf("%v, %v, want one record of 1000 bytes", file.Size(), err)
		}
	}
}
