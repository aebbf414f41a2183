package main_test

import (
	"errors"
	"io"
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

// A cancelled job saves its work and tells people, with a stand-in for an older sudo.
func TestInterruptOnTheHost(t *testing.T) {
	t.Parallel()
	const inPlace, asLeader = `exec "$@"`, `exec setsid "$@"`
	for name, runner := range map[string]string{"cancel": inPlace, "cancel a leader": asLeader} {
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
			step.Args = slices.Concat([]string{"sh", "-c", runner, "runner"}, step.Args)
			said, err := step.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			step.Stderr = step.Stdout
			if err := step.Start(); err != nil {
				t.Fatal(err)
			}
			j.until("the agent is at work", j.hung)
			if err := step.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			j.noneLeft()
			out, _ := io.ReadAll(said)
			_ = step.Wait()
			if code := step.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit %d, want 130: %s", code, out)
			}
			j.saved()
		})
	}
}
