package main_test

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// enduranceRun is a scene with the job of a row.
type enduranceRun struct {
	*scene
	row   enduranceCase
	line  *line // to GitHub; nil: it is reached directly
	model *line // to a model server; nil: there is none
}

// enduranceAgent is the agent of each row. It does its story, but for the first turn
// of the second story: then it prints its key, waits for the world, and does what
// the row says.
const enduranceAgent = `cat >/dev/null
[ -w "$AT" ] || AT=$PWD/signs # in a sandbox
mkdir -p "$AT"
export GIT_AUTHOR_NAME=Agent GIT_AUTHOR_EMAIL=agent@example.com GIT_COMMITTER_NAME=Agent GIT_COMMITTER_EMAIL=agent@example.com
story() {
	[ ! -e "$AT/undo" ] || git checkout -qfB mended "$(git rev-list --all --grep='feat: US-001' | tail -n 1)"
	echo "$RALPH_STORY" >"$RALPH_STORY.txt"
	git add -- "$RALPH_STORY.txt" && git commit -qm "feat: $RALPH_STORY" -- "$RALPH_STORY.txt"
	sed -i "/$RALPH_STORY/,/passes/s/\"passes\": false/\"passes\": true/" ralph/prd.json
}
asks() {
	ask post "$ANTHROPIC_BASE_URL" "$ANTHROPIC_API_KEY" claude-sonnet-4-6 stream | grep message_stop
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

// fakeEvents are lines as a journal has them.
const fakeEvents = `{"v":1,"seq":7,"t":"2026-01-01T00:00:00Z","type":"run_stopped","reason":"all_stories_passed"}`

// stops returns the stop reason, for people.
func (row enduranceCase) stops() string { return cmp.Or(string(row.want), "none") }

// test tries the row, and says how that went.
func (row enduranceCase) test(t *testing.T) string {
	t.Helper()
	switch {
	case row.needs == "mounts" && !canMount(t), row.needs == "sandbox" && !canConfine(t):
		return "not tried: this machine has no " + row.needs
	case row.each == 0:
		row.endure(t)
	default:
		t.Run("event", row.endureAtEvents)
	}
	if t.Failed() {
		return "FAILED"
	}
	return "ok"
}

// endureAtEvents tries the row at each type of event of an undisturbed run, until the
// last story is proven: all of them with ENDURANCE, else a part. After that the run
// only publishes, and ends well.
func (row enduranceCase) endureAtEvents(t *testing.T) {
	plain := enduranceCase{want: passed, agent: "story"}.endure(t).entries()
	for len(plain) > 0 && journal.Type(plain[len(plain)-1].Event) != journal.Type(journal.ProofEnded{}) {
		plain = plain[:len(plain)-1]
	}
	for i, event := range slices.Sorted(maps.Keys(count(plain))) {
		if os.Getenv("ENDURANCE") == "" && i%8 != int(row.each)%8 {
			continue
		}
		t.Run(event, func(t *testing.T) {
			t.Parallel()
			d := death{Event: event, Nth: 1}
			if row.each != syscall.SIGKILL {
				d.Polite = row.each
			}
			row := row
			row.env = append(slices.Clip(row.env), d.env())
			row.endure(t)
		})
	}
}

// endure runs the job of the row, and then the same job again, undisturbed.
func (row enduranceCase) endure(t *testing.T) *enduranceRun {
	t.Helper()
	o := row.prepare(t)
	if row.before != nil {
		row.before(o)
	}
	l := o.start(row.wrap)
	o.until("the agent waits", func() bool { return o.has("waits") || !l.isAlive() })
	if row.world != nil {
		row.world(o)
	}
	if row.each == 0 && !o.has("waits") {
		t.Error("the agent did not come to its second story")
	}
	o.sign("go")
	o.stopped(o.end(l), l)
	taken := o.taken()
	if row.after != nil {
		row.after(o)
	}
	if row.want == stalled {
		o.sign("undo")
	}
	if code := o.end(o.start(nil, deathKey+"=")); code != 0 {
		t.Errorf("exit %d of the job that went on, want 0", code)
	}
	o.recovered()
	o.holds(taken)
	o.secretKept()
	return o
}

// prepare makes the scene: an issue with two stories, and the agent.
func (row enduranceCase) prepare(t *testing.T) *enduranceRun {
	t.Helper()
	dir := memory(t)
	if row.needs == "sandbox" {
		dir = t.TempDir()
	}
	o := &enduranceRun{row: row}
	o.scene = newSceneIn(t, dir, func(s *scene) {
		if row.gone {
			o.scene = s
			o.layLine()
		}
		s.EditIssue(shop, s.issue, func(i *githubtest.Issue) {
			i.Title, i.Body = "Two files", "- [ ] The first file\n- [ ] The second file\n"
		})
	})
	if err := write(o.path("agent", "agent.sh"), []byte(enduranceAgent+row.agent+"\n")); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "sh", "-n", o.path("agent", "agent.sh")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	o.env = append(o.env, "INPUT_AGENT=command", "SET_agent.flags=", "SET_agent.command=sh "+o.path("agent", "agent.sh"),
		"INPUT_CHECK-ENV=AT="+o.path("agent")+"\nFAKE="+fakeEvents, "SET_proof=unbroken", "INPUT_CHECKS=true", "SET_review.agent=", "INPUT_SETUP=",
		"INPUT_ANTHROPIC-API-KEY="+modelKey, "ANTHROPIC_API_KEY="+modelKey, hasteKey+"=20ms", "SET_limits.maxIterations=6", yesterdayKey+"="+o.path("agent", "yesterday"))
	if row.needs == "sandbox" {
		o.env = append(o.env, "INPUT_SANDBOX=")
	}
	if row.model {
		o.layModel()
	}
	if row.gone && os.Getenv("ENDURANCE") != "" {
		o.env = append(o.env, hasteKey+"=")
	}
	o.env = append(o.env, row.env...)
	return o
}

// stopped is what must be so when the run has stopped, with that exit code.
func (o *enduranceRun) stopped(code int, l *life) {
	o.t.Helper()
	run, got := o.run(), policy.Reason("")
	if code == -1 {
		code = 128 + int(syscall.SIGKILL) // as a shell names it
	}
	if run.Stop != nil {
		got = run.Stop.Reason
	}
	if got != o.row.want || code != o.row.exit {
		o.t.Errorf("exit %d, the run stopped as %+v; want %d, %s", code, run.Stop, o.row.exit, o.row.stops())
	}
	if said, err := os.ReadFile(l.log); err != nil || !strings.Contains(string(said), o.row.says) {
		o.t.Errorf("the log does not say %q: %v", o.row.says, err)
	}
}

func (o *enduranceRun) start(wrap []string, env ...string) *life {
	o.t.Helper()
	log, err := os.CreateTemp(o.dir, "log-*")
	if err != nil {
		o.t.Fatal(err)
	}
	defer log.Close()
	argv := slices.Concat(wrap, []string{"ralph", "action"})
	l := &life{Cmd: exec.CommandContext(o.t.Context(), argv[0], argv[1:]...), log: log.Name()}
	l.Env, l.Stdout, l.Stderr = slices.Concat(o.env, env), log, log
	if err := l.Start(); err != nil {
		o.t.Fatal(err)
	}
	return l
}

// isAlive reports whether the program is no zombie yet.
func (l *life) isAlive() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", l.Process.Pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// sign leaves a file for the agent; has tells whether there is one.
func (o *enduranceRun) sign(name string) {
	o.t.Helper()
	if err := write(filepath.Join(o.signs(), name), nil); err != nil {
		o.t.Fatal(err)
	}
}

func (o *enduranceRun) has(name string) bool {
	_, err := os.Stat(filepath.Join(o.signs(), name))
	return err == nil
}

func (o *enduranceRun) signs() string {
	if inside, _ := filepath.Glob(o.path("workspace", ".ralph", "runs", "*", "work", "tree", "signs")); len(inside) > 0 {
		return inside[0]
	}
	return o.path("agent")
}

// recovered is what must be so after the second job, in each row.
func (o *enduranceRun) recovered() {
	t := o.t
	t.Helper()
	run := o.run()
	if run.Stop == nil || run.Stop.Reason != policy.AllStoriesPassed && run.Stop.Reason != policy.NothingToDo {
		t.Errorf("in the end the run stopped as %+v with %d stories passed, want 2", run.Stop, run.PassedStories())
	}
	pulls := o.Pulls(shop)
	if len(pulls) != 1 || pulls[0].Draft || pulls[0].HeadSHA != o.must("rev-parse", pulls[0].Head) {
		t.Fatalf("pull requests %+v, want one that is ready, at the head of its branch", pulls)
	}
	if ours := o.progress(o.issue); len(ours) > 1 {
		t.Errorf("%d progress comments, want one", len(ours))
	}
	files := o.files(pulls[0].Head)
	for _, name := range []string{"US-001.txt", "US-002.txt"} {
		if !slices.Contains(files, name) {
			t.Errorf("the branch has %q, want %s", files, name)
		}
	}
}

// secretKept looks for the job's token and the agent's key in all that was written or sent.
func (o *enduranceRun) secretKept() {
	o.t.Helper()
	all := o.everything()
	for _, call := range o.Requests() {
		all["a request"] += call.Body
	}
	for place, text := range all {
		for _, secret := range []string{token, modelKey, base64.StdEncoding.EncodeToString([]byte(modelKey))} {
			if strings.Contains(text, secret) {
				o.t.Errorf("%s holds a secret", place)
			}
		}
	}
}
