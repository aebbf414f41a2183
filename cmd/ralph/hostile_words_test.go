package main_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// runnerCommand is how the Actions runner finds commands in what a job prints,
// drawn wider than its own rule, which knows the names of commands: at the
// front of a line behind white space, and by the old sign anywhere.
var runnerCommand = regexp.MustCompile(`^\s*::[^\n]*?::|##\[[^\n]*?\]`)

// commandsIn returns the commands that a runner would carry out. It ends lines at
// each of \n and \r, and what cannot be seen is not there for it.
func commandsIn(log string) []string {
	var found []string
	for line := range strings.FieldsFuncSeq(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.Map(func(r rune) rune {
			if r != '\t' && (unicode.IsControl(r) || clean.IsInvisible(r)) {
				return -1
			}
			return r
		}, line)
		if runnerCommand.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

// Commands in each place that a line of the log can come from: what the agent
// and its tools say, names of files, messages of commits, checks, the issue,
// what GitHub answers. Those that the log speaks of are in it, and none is a
// command any more. Names of branches cannot hold one.
func TestNoCommandReachesTheRunner(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t, func(s *issueJob) {
		if err := write(s.path("script.txtar"), []byte(commandingScript)); err != nil {
			s.t.Fatal(err)
		}
		s.EditIssue(shop, s.issue, func(i *githubtest.Issue) {
			i.Title, i.Body = "##[add-path]of-the-title", i.Body+"\n- [ ] ##[error]of-a-story\n"
		})
		s.refusePush(99, "::error::of-the-push ##[error]of-the-push")
		s.Inject(githubtest.Fault{
			Method: http.MethodPatch, Path: "/repos/" + shop + "/issues/comments/*", Status: http.StatusUnprocessableEntity,
			Body: `{"message":"::error::of-the-api\n::warning::of-the-api ##[error]of-the-api"}`, Times: 99,
		})
	})
	checks := `INPUT_CHECKS=sh check.sh; printf 'x\r::error::of-a-check\n::warning::of-a-check ##[add-path]of-a-check\n'; exit 1`
	l := s.begin("SET_limits.maxIterations=2", checks, "SET_protect=**/*protected*", hasteKey+"=100ms")
	s.end(l)
	log, err := os.ReadFile(l.log)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for _, command := range commandsIn(string(log)) {
		ours := narrated.FindStringSubmatch(command)
		switch {
		case command == "::add-mask::"+token:
		case ours == nil || strings.Contains(ours[2], "::") || strings.Contains(command, "##["):
			t.Errorf("the runner would carry out %q", command)
		default:
			said[ours[1]]++
		}
	}
	if said["group"] != 2 || said["endgroup"] != 2 {
		t.Errorf("the log has %v, want a group an iteration", said)
	}
	for _, place := range []string{"of-a-file", "of-a-commit", "of-the-push", "of-the-api", "of-a-ch"} {
		if !strings.Contains(string(log), place) {
			t.Errorf("the log says nothing %s: this test has grown weak", place)
		}
	}
}

// narrated is a command of our own, with what others wrote behind it.
var narrated = regexp.MustCompile(`^::(group|endgroup|error)(?: [^:]*)?::(.*)$`)

const commandingScript = `commands
-- 1/say --
::error::of-the-agent
 ::add-mask::of-the-agent
and ##[add-path]of-the-agent, ` + "#\u200b#[error]of-the-agent" + `
-- 1/tool --
::set-env name=of-a-tool::x: ##[error]of-a-tool => ::error::of-a-tool
-- 1/run --
printf '\n::error::of-a-tool\r::error::of-a-tool\n##[error]of-a-tool\n'
echo x >other
echo x >'::error::protected of-a-file ##[add-path]x'
git add -A
git -c user.name='::error::a' -c user.email=a@example.com commit -q -m '::error::of-a-commit ##[error]of-a-commit

::error::of-a-commit'
-- 1/claim --
US-001: ::error::of-a-claim ##[error]of-a-claim
-- 2/commit --
::error::of-a-commit ##[add-path]of-a-commit
`
