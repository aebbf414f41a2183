package main_test

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// disturbance is a row of the table: what the agent or the world does in the middle of
// a run of two stories, and why the run stops. By then the first story is proven and
// pushed. Afterwards the same job starts again, undisturbed.
type disturbance struct {
	name  string
	agent string          // shell script of an agent's turn, in which "story" does the story; empty: that
	world func(*issueJob) // happens while the agent waits in that turn
	after func(*issueJob) // happens before the job starts again
	env   []string        // added to the job's environment
	want  policy.Reason   // why the run stops; empty: all stories passed
}

// disturbances is the table of docs/dev/reliability.md.
var disturbances = []disturbance{
	{name: "the agent is killed", agent: `kill -9 $$`},
	{
		name:  "the agent hangs and ignores SIGTERM",
		agent: `trap '' TERM INT HUP; while :; do sleep 1; done`,
		env:   []string{"SET_agent.timeout=1s"},
	},
	{name: "the agent prints 10 MB to stdout and to stderr", agent: `yes "$ANTHROPIC_API_KEY" | head -c 10000000; yes | head -c 10000000 >&2`},
	{name: "the agent prints a line of 10 MB", agent: `head -c 10000000 /dev/zero | tr '\0' x`},
	{
		name:  "the agent prints NULs and invalid UTF-8",
		agent: `printf '\0\0\377\376\200\303(\033[31m\r\b\n'; head -c 100000 /dev/urandom; story`,
	},
	{
		name:  "the agent prints a fake journal",
		agent: `printf '%s\n' "$FAKE" "::set-output name=stop-reason::done" "::stop-commands::x"; echo "$FAKE" >&2`,
	},
	{name: "the agent closes stdout and stderr early", agent: `exec >&- 2>&-; story`},
	{name: "the agent leaves daemons in sessions of their own", agent: `for i in 1 2 3; do
	setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' "$AT/daemon" &
done
setsid env -i sh -c 'cd /; while :; do sleep 1; done' "$AT/daemon" </dev/null >/dev/null 2>&1 &
story`},

	// What it leaves in its worktree.
	{name: "the agent deletes its worktree", agent: `rm -rf "$PWD"`},
	{name: "the agent deletes .git", agent: `rm -rf .git`},
	{name: "the agent amends a commit that was pushed", agent: `git commit -q --amend -m rewritten`},
	{
		name:  "the agent starts a new history",
		agent: `git checkout -q --orphan other; git commit -qm other`,
		want:  policy.Stalled,
	},
	{name: "the agent leaves a merge with conflicts", agent: `git checkout -qb side HEAD~1; echo other >US-001.txt
git add US-001.txt; git commit -qm other; git checkout -q -; git merge side`},
	{name: "the agent leaves index.lock", agent: `touch "$(git rev-parse --git-path index.lock)"`},
	{name: "the agent leaves a sparse file of 3 GB", agent: `truncate -s 3G large; story`},
	{
		name:  "the agent commits a symlink to /",
		agent: `ln -s / root; git add root; git commit -qm root`,
		want:  policy.Stalled,
	},
	{name: "the agent commits a file named -rf", agent: `echo x >./-rf; git add -- -rf; git commit -qm rf`},
	{name: "the agent leaves a FIFO", agent: `mkfifo pipe; story`},

	// The machine and GitHub.
	{name: "the home directory is read-only", env: []string{"HOME=/proc/1"}},
	{name: "the branch is deleted", world: func(s *issueJob) { s.must("update-ref", "-d", "refs/heads/"+s.run().Branch) }},
	{
		name:  "the issue is closed",
		world: func(s *issueJob) { s.setState("closed") },
		after: func(s *issueJob) { s.setState("open") },
	},
	{name: "GitHub cannot be reached for 40 requests", world: (*issueJob).disconnect},
}

// disturbedAgent is the agent of each row. It does its story, but for the first turn
// of the second story: then it prints its key, waits for the world, and does what
// the row says.
const disturbedAgent = `cat >/dev/null
mkdir -p "$AT"
export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=agent@example.com
export GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=agent@example.com
story() {
	[ ! -e "$AT/undo" ] || git checkout -qfB mended "$(git rev-list --all --grep='feat: US-001' | tail -n 1)"
	echo "$RALPH_STORY" >"$RALPH_STORY.txt"
	git add -- "$RALPH_STORY.txt" && git commit -qm "feat: $RALPH_STORY" -- "$RALPH_STORY.txt"
	sed -i "/$RALPH_STORY/,/passes/s/\"passes\": false/\"passes\": true/" ralph/prd.json
}
if [ "$RALPH_STORY" = US-001 ] || ! mkdir "$AT/begun" 2>/dev/null; then
	story
	exit
fi
echo "the key is $ANTHROPIC_API_KEY"
printf %s "$ANTHROPIC_API_KEY" | base64 >&2
touch "$AT/waits"
until [ -e "$AT/go" ]; do sleep 0.01; done
`

// fakeEvent is a line as a journal has it.
const fakeEvent = `{"v":1,"seq":7,"t":"2026-01-01T00:00:00Z","type":"run_stopped","reason":"all_stories_passed"}`

// TestEndurance puts a run through each row of the table.
func TestEndurance(t *testing.T) {
	t.Parallel()
	for _, row := range disturbances {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.test(t)
		})
	}
}

// test disturbs a job, and then runs the same job again, undisturbed.
func (d disturbance) test(t *testing.T) {
	t.Helper()
	s := newIssueJob(t, func(s *issueJob) {
		s.EditIssue(shop, s.issue, func(i *githubtest.Issue) {
			i.Title, i.Body = "Two files", "- [ ] The first file\n- [ ] The second file\n"
		})
	})
	script := s.path("agent", "agent.sh")
	s.write(script, disturbedAgent+cmp.Or(d.agent, "story")+"\n")
	s.env = append(s.env,
		"INPUT_AGENT=command", "SET_agent.flags=", "SET_agent.command=sh "+script,
		"INPUT_CHECK-ENV=AT="+s.path("agent")+"\nFAKE="+fakeEvent,
		"SET_proof=unbroken", "INPUT_CHECKS=true", "SET_review.agent=", "INPUT_SETUP=", "SET_limits.maxIterations=6",
		"INPUT_ANTHROPIC-API-KEY="+modelKey, "ANTHROPIC_API_KEY="+modelKey, hasteKey+"=20ms")
	s.env = append(s.env, d.env...)
	l := s.begin()
	s.until("the agent waits", func() bool {
		_, err := os.Stat(s.path("agent", "waits"))
		return err == nil
	})
	if d.world != nil {
		d.world(s)
	}
	s.write(s.path("agent", "go"), "")
	code, want := s.end(l), cmp.Or(d.want, policy.AllStoriesPassed)
	if stop := s.run().Stop; code != 0 || stop == nil || stop.Reason != want {
		t.Errorf("exit %d, the run stopped as %+v; want 0, %s", code, stop, want)
	}
	taken := s.taken()
	if d.after != nil {
		d.after(s)
	}
	if d.want == policy.Stalled {
		s.write(s.path("agent", "undo"), "")
	}
	if code := s.end(s.begin()); code != 0 {
		t.Errorf("exit %d of the job that went on, want 0", code)
	}
	s.recovered()
	s.holds(taken)
	s.secretKept()
}

// recovered is what must be so after the second job, in each row.
func (s *issueJob) recovered() {
	t := s.t
	t.Helper()
	run := s.run()
	if run.Stop == nil || run.Stop.Reason != policy.AllStoriesPassed && run.Stop.Reason != policy.NothingToDo {
		t.Errorf("in the end the run stopped as %+v with %d stories passed, want 2", run.Stop, run.PassedStories())
	}
	pulls := s.Pulls(shop)
	if len(pulls) != 1 || pulls[0].Draft || pulls[0].HeadSHA != s.must("rev-parse", pulls[0].Head) {
		t.Fatalf("pull requests %+v, want one that is ready, at the head of its branch", pulls)
	}
	if ours := s.progress(s.issue); len(ours) > 1 {
		t.Errorf("%d progress comments, want one", len(ours))
	}
	files := s.files(pulls[0].Head)
	for _, name := range []string{"US-001.txt", "US-002.txt"} {
		if !slices.Contains(files, name) {
			t.Errorf("the branch has %q, want %s", files, name)
		}
	}
}

// taken returns the commits that were taken over from the agent so far.
func (s *issueJob) taken() []string {
	s.t.Helper()
	var all []string
	for _, entry := range s.entries() {
		if e, ok := entry.Event.(journal.CommitsTaken); ok && e.To != e.From {
			all = append(all, e.To)
		}
	}
	return all
}

// holds wants commits to be on the branch.
func (s *issueJob) holds(commits []string) {
	s.t.Helper()
	branch := strings.Split(s.must("rev-list", s.run().Branch), "\n")
	for _, sha := range commits {
		if !slices.Contains(branch, sha) {
			s.t.Errorf("%s was taken over from the agent, and is not on the branch", sha)
		}
	}
}

// secretKept looks for the job's token and the agent's key in all that was written or sent.
func (s *issueJob) secretKept() {
	s.t.Helper()
	all := s.everything()
	for _, call := range s.Requests() {
		all["a request"] += call.Body
	}
	for place, text := range all {
		for _, secret := range []string{token, modelKey, base64.StdEncoding.EncodeToString([]byte(modelKey))} {
			if strings.Contains(text, secret) {
				s.t.Errorf("%s holds a secret", place)
			}
		}
	}
}

func (s *issueJob) setState(state string) {
	s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.State = state })
}

// disconnect has the next requests to GitHub get no answer.
func (s *issueJob) disconnect() {
	var left atomic.Int32
	left.Store(40)
	s.visit(func(*http.Request) {
		if left.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
	})
}

// disturbanceRows returns the rows in docs/dev/reliability.md, by how they end.
func disturbanceRows() string {
	rows := map[policy.Reason]string{}
	for _, row := range disturbances {
		reason := cmp.Or(row.want, policy.AllStoriesPassed)
		rows[reason] += "- " + row.name + "\n"
	}
	text := ""
	for _, reason := range []policy.Reason{policy.AllStoriesPassed, policy.Stalled} {
		text += "Stop reason `" + string(reason) + "`:\n\n" + rows[reason] + "\n"
	}
	return text
}
