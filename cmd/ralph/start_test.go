package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// atStart is what the runtime tells of a package when it is asked to.
var atStart = regexp.MustCompile(`(?m)^init github\.com/ralph-loop/ralph/(\S+) .* (\d+) bytes, \d+ allocs$`)

// The program is started before and after every tool that an agent uses: no
// room gets ready for more than it is asked for. Of expressions there are so
// many that pattern.Of reads them when they are needed.
func TestNoRoomDoesMuchAtStart(t *testing.T) {
	const most = 256 << 10
	cmd := exec.CommandContext(t.Context(), "ralph", "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rooms := atStart.FindAllSubmatch(out, -1)
	for _, room := range rooms {
		if bytes, err := strconv.Atoi(string(room[2])); err != nil || bytes > most {
			t.Errorf("%s takes %s bytes before main, want at most %d", room[1], room[2], most)
		}
	}
	if len(rooms) < 10 {
		t.Errorf("%d rooms told what they do at start:\n%s", len(rooms), out)
	}
}
