package main_test

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"testing"
)

// oldSudo drops signals from its own process group, as sudo before 1.9.13 does, and
// passes others on.
const oldSudo = `#!/bin/sh
[ "$2" != true ] || exit 0
shift
"$@" <&0 &
pass="kill -TERM $!"
read -r _ _ _ _ own _ <"/proc/$$/stat"
read -r _ _ _ _ runner _ <"/proc/$PPID/stat"
[ "$own" != "$runner" ] || pass=
trap "$pass" INT TERM
while kill -0 $! 2>/dev/null; do
  code=0
  wait $! || code=$?
done
exit $code
`

// A cancelled job, and one of which the runner or sudo is gone, saves its work and
// tells people, with a stand-in for an older sudo.
func TestInterruptOnTheHost(t *testing.T) {
	t.Parallel()
	const inPlace, asLeader, asChild = `exec "$@"`, `exec setsid "$@"`, `"$@" & wait`
	for name, c := range map[string]struct {
		runner string // how it starts the step
		signal syscall.Signal
		code   int
	}{
		"cancel":             {inPlace, syscall.SIGINT, 130},
		"cancel a leader":    {asLeader, syscall.SIGINT, 130},
		"kill of sudo":       {inPlace, syscall.SIGKILL, -1},
		"kill of the runner": {asChild, syscall.SIGKILL, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newHostJob(t, patient)
			j.got()
			for file, text := range map[string]string{"sudo": oldSudo, "id": "#!/bin/sh\necho 1001\n"} {
				if err := errors.Join(write(j.path("user", file), []byte(text)), os.Chmod(j.path("user", file), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
			step := j.command(1, "PATH="+j.path("user")+":"+os.Getenv("PATH"))
			step.Args = slices.Concat([]string{"sh", "-c", c.runner, "runner"}, step.Args)
			// Wait stops reading, as the runner does when the step or it itself has ended.
			if _, err := step.StdoutPipe(); err != nil {
				t.Fatal(err)
			}
			step.Stderr = step.Stdout
			if err := step.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- step.Wait() }()
			j.until("the agent is at work", j.hung)
			if err := step.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			j.noneLeft()
			<-ended
			if code := step.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			j.saved()
		})
	}
}
