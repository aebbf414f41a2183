package main_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// enduranceCase is a row of the table: what the agent or the world does in the middle of
// a run of two stories, and why the run stops. By then the first story is proven and
// pushed. Afterwards the same job starts again, undisturbed.
type enduranceCase struct {
	name string
	want policy.Reason // why the run stops; empty where the journal has no end

	agent  string              // shell script of an agent's turn, in which "story" does the story
	world  func(*enduranceRun) // happens while the agent waits in that turn
	before func(*enduranceRun) // happens before the run
	after  func(*enduranceRun) // happens before the job starts again
	env    []string            // added to the job's environment
	wrap   []string            // command that starts ralph
	exit   int                 // exit code of the run
	says   string              // in the log of the run
	each   syscall.Signal      // sent at each type of event, in a run of its own
	gone   bool                // GitHub is reached by a line that the row cuts
	model  bool                // there is a model server, which the sandbox reaches by such a line
	needs  string              // "mounts" or "sandbox", which not every machine has
}

const (
	passed    = policy.AllStoriesPassed
	stalled   = policy.Stalled
	cancelled = policy.Cancelled
	fatal     = policy.FatalError
)

// enduranceCases is the table of docs/dev/reliability.md.
var enduranceCases = []enduranceCase{
	{name: "nothing", want: passed, agent: `story`},

	// The agent.
	{name: "the agent is killed", want: passed, agent: `kill -9 $$`},
	{name: "the agent hangs", want: passed, agent: `exec sleep 3600`, env: []string{"SET_agent.timeout=1s"}},
	{name: "the agent hangs and ignores SIGTERM", want: passed, agent: `trap '' TERM INT HUP; while :; do sleep 1; done`, env: []string{"SET_agent.timeout=1s"}},
	{name: "the agent prints 100 MB to stdout and to stderr", want: passed, agent: `yes "$ANTHROPIC_API_KEY" | head -c 100000000; yes | head -c 100000000 >&2`},
	{name: "the agent prints a line of 100 MB", want: passed, agent: `head -c 100000000 /dev/zero | tr '\0' x`},
	{name: "the agent prints NULs and invalid UTF-8", want: passed, agent: `printf '\0\0\377\376\200\303(\033[31m\r\b\n'; head -c 100000 /dev/urandom; story`},
	{name: "the agent prints a fake journal", want: passed, agent: `printf '%s\n' "$FAKE" "::set-output name=stop-reason::done" "::stop-commands::x"; printf '%s\n' "$FAKE" >&2`},
	{name: "the agent closes stdout and stderr early", want: passed, agent: `exec >&- 2>&-; story`},
	{name: "the agent leaves daemons in sessions of their own", want: passed, agent: `for i in 1 2 3; do setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' "$AT/daemon" & done
setsid env -i sh -c 'cd /; while :; do sleep 1; done' "$AT/daemon" </dev/null >/dev/null 2>&1 &
story`},

	// What it leaves in its worktree.
	{name: "the agent deletes its worktree", want: passed, agent: `rm -rf "$PWD"`},
	{name: "the agent deletes .git", want: passed, agent: `rm -rf .git`},
	{name: "the agent amends a commit that was pushed", want: passed, agent: `git commit -q --amend -m rewritten`},
	{name: "the agent starts a new history", want: stalled, agent: `git checkout -q --orphan other; git commit -qm other`},
	{name: "the agent leaves a merge with conflicts", want: passed, agent: `git checkout -qb side HEAD~1; echo other >US-001.txt; git add US-001.txt; git commit -qm other; git checkout -q -; git merge side`},
	{name: "the agent leaves index.lock", want: passed, agent: `touch "$(git rev-parse --git-path index.lock)"`},
	{name: "the agent adds a submodule", want: stalled, agent: `git init -q sub; git -C sub commit -q --allow-empty -m sub; git -c protocol.file.allow=always submodule --quiet add ./sub sub; git commit -qm sub`},
	{name: "the agent leaves a sparse file of 3 GB", want: passed, agent: `truncate -s 3G large; story`},
	{name: "the agent commits a symlink to /", want: stalled, agent: `ln -s / root; git add root; git commit -qm root`},
	{name: "the agent commits a file named -rf", want: passed, agent: `echo x >./-rf; git add -- -rf; git commit -qm rf`},
	{name: "the agent commits a path with a newline", want: stalled, agent: `echo x >'a
b'; git add .; git commit -qm newline`},
	{name: "the agent leaves a FIFO", want: passed, agent: `mkfifo pipe; story`},
	{name: "the agent renames a file to another case", want: passed, agent: `git mv README.md readme.md; git commit -qm rename`},

	// The machine.
	{name: "SIGTERM at each type of event", want: cancelled, agent: `story`, each: syscall.SIGTERM, exit: 130},
	{name: "SIGINT at each type of event", want: cancelled, agent: `story`, each: syscall.SIGINT, exit: 130},
	{name: "kill -9 at each type of event", agent: `story`, each: syscall.SIGKILL, exit: 137},
	{name: "kill -9 of the process of the sandbox", want: passed, agent: `story`, needs: "sandbox", world: func(o *enduranceRun) { o.kill("/proc/self/exe " + sandbox.Hidden) }},
	{name: "the disk is full while the journal is written", exit: 2, says: "hint: make room on the disk", needs: "mounts", agent: `cat /dev/zero >fill`, before: (*enduranceRun).smallDisk, after: (*enduranceRun).makeRoom},
	{name: "the disk is full while the transcript is written", exit: 2, says: "hint: make room on the disk", needs: "mounts", agent: `yes "$(seq -s' ' 1000)" | head -c 100000000`, before: (*enduranceRun).smallDisk, after: (*enduranceRun).makeRoom},
	{name: "the disk is full while git objects are written", want: fatal, exit: 2, needs: "mounts", agent: `head -c 20000000 /dev/urandom >fill; story; git add fill; git commit -qm fill`, before: (*enduranceRun).smallDisk, after: (*enduranceRun).makeRoom},
	{name: "the home directory is read-only", want: passed, agent: `story`, env: []string{"HOME=/proc/1"}},
	{name: "64 open files", want: passed, agent: `story`, wrap: []string{"prlimit", "--nofile=64"}},
	{name: "the clock is set back by a day", want: passed, agent: `story`, world: func(o *enduranceRun) { o.sign("yesterday") }},
	{name: "a second job starts on the issue", want: passed, agent: `story`, world: func(o *enduranceRun) { o.second("elsewhere") }},
	{name: "a second job starts in the workspace", want: passed, agent: `story`, world: func(o *enduranceRun) { o.second("workspace") }},

	// The model server, from behind the sandbox. "asks" succeeds if its answer is whole.
	{name: "the model server is gone for 60 s: connections are refused", want: passed, model: true, needs: "sandbox", agent: `until asks; do sleep 1; done; story`, world: func(o *enduranceRun) { o.loseModel(false) }},
	{name: "the model server's answers break off for 60 s", want: passed, model: true, needs: "sandbox", agent: `until asks; do sleep 1; done; story`, world: func(o *enduranceRun) { o.loseModel(true) }},
	{name: "the model server's answers break off, and the agent gives up", want: fatal, exit: 2, model: true, needs: "sandbox", agent: `asks || { rm -r "$AT/begun"; exit 1; }`, world: (*enduranceRun).breakModel, after: (*enduranceRun).mendModel},

	// GitHub.
	{name: "the base is force-pushed", want: passed, agent: `story`, says: "conflicts in: all files: the histories have no commit in common", world: (*enduranceRun).rewriteBase, after: (*enduranceRun).restoreBase},
	{name: "the branch is deleted", want: passed, agent: `story`, world: func(o *enduranceRun) { o.must("update-ref", "-d", "refs/heads/"+o.run().Branch) }},
	{name: "the issue is closed", want: passed, agent: `story`, world: func(o *enduranceRun) { o.state("closed") }, after: func(o *enduranceRun) { o.state("open") }},
	{name: "the progress comment is deleted", want: passed, agent: `story`, world: func(o *enduranceRun) { o.erase(o.issue) }},
	{name: "the repository is archived", want: fatal, exit: 2, agent: `story`, says: "the work is in the file .ralph-out/", world: (*enduranceRun).archive, after: func(o *enduranceRun) { o.Heal() }},
	{name: "GitHub cannot be reached for 40 requests", want: passed, agent: `story`, world: (*enduranceRun).disconnect},
	{name: "the network is gone for 60 s: connections are refused", want: passed, agent: `story`, gone: true, world: func(o *enduranceRun) { o.loseNetwork(false) }},
	{name: "the network is gone for 60 s: packets vanish", want: passed, agent: `story`, gone: true, world: func(o *enduranceRun) { o.loseNetwork(true) }},
}

// TestEndurance puts a run through each row of the table. With ENDURANCE it tries
// all of them, as make endurance does; else a part.
func TestEndurance(t *testing.T) {
	all := os.Getenv("ENDURANCE") != ""
	var mu sync.Mutex
	results := map[string]string{}
	t.Run("rows", func(t *testing.T) {
		for i, row := range enduranceCases {
			if !all && i%9 != 0 {
				continue
			}
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				said := row.test(t)
				mu.Lock()
				defer mu.Unlock()
				results[row.name] = said
			})
		}
	})
	var table strings.Builder
	for _, row := range enduranceCases {
		if said, tried := results[row.name]; tried {
			fmt.Fprintf(&table, "%-55s %-20s %s\n", row.name, row.stops(), said)
		}
	}
	t.Logf("%d of %d rows:\n%s", len(results), len(enduranceCases), table.String())
}

// enduranceRows returns the cases in docs/dev/reliability.md, by how they end.
func enduranceRows() string {
	var ends []string
	cases := map[string]string{}
	for _, row := range enduranceCases {
		end := fmt.Sprintf("Stop reason `%s`, exit code %d", row.want, row.exit)
		if row.want == "" {
			end = fmt.Sprintf("No stop reason, exit code %d", row.exit)
		}
		if cases[end] == "" {
			ends = append(ends, end)
		}
		cases[end] += "- " + row.name + "\n"
	}
	text := ""
	for _, end := range ends {
		text += end + ":\n\n" + cases[end] + "\n"
	}
	return text
}
