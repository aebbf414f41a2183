package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/show/result"
)

// trial is one task under way. The agent's repository holds the history up to the base alone.
type trial struct {
	*Eval

	task         Task
	origin, work string
	left         float64            // dollars
	verifier     *checkout.Verifier // its exams begin with the caches that the first one filled
}

const story = "US-001"

func (t *trial) run(ctx context.Context, row *Row) error {
	if err := t.layOut(ctx); err != nil {
		return err
	}
	row.Commit = t.task.Gold
	return t.Verify(ctx, t.origin, func(v *checkout.Verifier) error {
		v.Tell = nil // its advice is for a run's base, not for a commit with hidden tests
		t.verifier = v
		return t.examine(ctx, row)
	})
}

// examine tries the commit's tests on the commit, on its base and on the agent's work. If they pass
// at the base they show nothing, and the task is set aside.
func (t *trial) examine(ctx context.Context, row *Row) error {
	gold, err := t.exam(ctx, t.task.Gold)
	if err != nil {
		return err
	}
	checkPassed := slices.ContainsFunc(gold, func(a checkout.Answer) bool { return a.Passed })
	if len(passingTests(gold)) == 0 && !checkPassed {
		return errors.New("unusable: no check passes with the commit itself")
	}
	base, err := t.exam(ctx, t.task.Base)
	if err != nil {
		return err
	}
	if len(missedTests(gold, base)) == 0 {
		row.Aside = "its hidden tests pass at the base"
		return nil
	}
	runResult, err := t.ralph(ctx)
	row.take(runResult)
	if err != nil {
		return err
	}
	head, err := t.handOver(ctx)
	if err != nil {
		return err
	}
	missed, err := t.missed(ctx, head, gold)
	if err != nil {
		return err
	}
	row.compare(missed)
	return nil
}

// exam returns the results of the checks on a commit with the hidden tests in it.
func (t *trial) exam(ctx context.Context, commit string) ([]checkout.Answer, error) {
	exam := checkout.Exam{Base: t.task.Base, Commit: commit, Tests: t.task.Gold}
	answers, unready, err := t.verifier.Exam(ctx, t.origin, exam, t.Rules)
	if err != nil {
		return nil, err
	}
	if unready != "" {
		return nil, errors.New(unready)
	}
	return answers, nil
}

// missed returns the hidden tests that do not pass with a commit; each has two tries.
func (t *trial) missed(ctx context.Context, commit string, gold []checkout.Answer) ([]string, error) {
	work, err := t.exam(ctx, commit)
	if err != nil {
		return nil, err
	}
	first := missedTests(gold, work)
	if len(first) == 0 {
		return nil, nil
	}
	if work, err = t.exam(ctx, commit); err != nil {
		return nil, err
	}
	var both []string
	for _, name := range missedTests(gold, work) {
		if slices.Contains(first, name) {
			both = append(both, name)
		}
	}
	return both, nil
}

func (t *trial) layOut(ctx context.Context) error {
	for _, dir := range []string{t.origin, t.work} {
		if err := t.git(ctx, t.Dir, "init", "-q", "-b", "main", "--", dir); err != nil {
			return err
		}
		if err := t.fetch(ctx, dir, t.Store.Dir, t.task.Base); err != nil {
			return err
		}
	}
	if err := t.fetch(ctx, t.origin, t.Store.Dir, t.task.Gold); err != nil {
		return err
	}
	if t.Agent == Gold {
		if err := t.fetch(ctx, t.work, t.origin, t.task.Gold); err != nil {
			return err
		}
	}
	if err := t.git(ctx, t.work, "checkout", "-q", "-B", "main", t.task.Base); err != nil {
		return err
	}
	// The commit's settings and journals of ralph are removed.
	if err := t.git(ctx, t.work, "rm", "-r", "-f", "-q", "--ignore-unmatch", "--", ":(icase).ralph"); err != nil {
		return err
	}
	stories := []plan.Story{{
		ID:                 story,
		Title:              t.task.Title,
		Description:        strings.TrimSpace(t.task.Body),
		AcceptanceCriteria: []string{t.task.Title},
		Priority:           1,
	}}
	memory := workspace.Memory{Tree: t.work}
	if err := memory.WritePlan(plan.Plan{Project: "eval", UserStories: stories}); err != nil {
		return err
	}
	if err := t.git(ctx, t.work, "add", "-f", "ralph/prd.json"); err != nil {
		return err
	}
	return t.git(ctx, t.work, "commit", "-q", "-m", "plan")
}

// fetch fetches a commit with its history from a repository with settings of ours. Old history
// may break git's current rules.
func (t *trial) fetch(ctx context.Context, into, from, sha string) error {
	return t.call(ctx, git.Call{
		Dir: into,
		Args: []string{
			"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--upload-pack=git-upload-pack", "--", from, sha,
		},
		Env: []string{"GIT_ALLOW_PROTOCOL=file"},
		Set: []git.Setting{{Key: "transfer.fsckObjects", Value: "false"}},
	})
}

// handOver brings the agent's work beside the commit. git reads none of its repository's settings.
func (t *trial) handOver(ctx context.Context) (string, error) {
	sha, err := t.Store.Git().Named(ctx, t.work, "HEAD")
	if err != nil {
		return "", err
	}
	store, err := t.Store.Git().OpenShared(ctx, t.work, filepath.Join(filepath.Dir(t.work), "handed.git"))
	if err != nil {
		return "", err
	}
	return sha, t.fetch(ctx, t.origin, store.Dir, sha)
}

// ralph runs the loop over the task, as a person would.
func (t *trial) ralph(ctx context.Context) (result.Result, error) {
	argv, err := t.runArgs(ctx)
	if err != nil {
		return result.Result{}, err
	}
	read, err := t.execute(ctx, argv)
	if read.StopReason == "" || read.StopReason == policy.BudgetExhausted { // it may have spent all
		read.TotalCostUSD = new(max(policy.Given(read.TotalCostUSD, 0), t.left))
	}
	return read, err
}

// execute runs a command of ralph's, and returns the result that it prints.
func (t *trial) execute(ctx context.Context, argv []string) (result.Result, error) {
	var stdout, stderr bytes.Buffer
	command := process.Command{
		Argv:   argv,
		Dir:    t.work,
		Env:    t.Env,
		Stdout: &stdout,
		Stderr: &stderr,
		Grace:  grace,
	}
	if t.MaxTime > 0 { // a run ends at its own limit, with a result
		command.Timeout = t.MaxTime + grace
	}
	var read result.Result
	ended, err := t.Exec(ctx, command)
	if err != nil {
		return read, err
	}
	if json.Unmarshal(stdout.Bytes(), &read) != nil {
		return read, fmt.Errorf("ralph run: exit %d: %s", ended.Exit, git.OneLine(lastLine(stderr.String()), 300))
	}
	return read, nil
}

// runArgs returns the command of the run. It writes the settings and a scripted agent for that.
func (t *trial) runArgs(ctx context.Context) ([]string, error) {
	config := filepath.Join(filepath.Dir(t.work), "settings.json")
	base, err := t.Store.ReadFile(ctx, git.At{Commit: t.task.Base, Path: baseSettings}, 1<<20)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return nil, err
	}
	settings, err := t.file(base)
	if err != nil {
		return nil, err
	}
	if err := untrusted.WriteFile(config, settings, 0o600); err != nil {
		return nil, err
	}
	argv := append([]string{t.Self, "run", "-d", t.work, "--json", "--config", config}, t.Flags...)
	if t.Agent == Gold || t.Agent == None {
		script := filepath.Join(filepath.Dir(t.work), "agent.txtar")
		if err := untrusted.WriteFile(script, t.script(), 0o644); err != nil {
			return nil, err
		}
		argv = append(argv, "--agent", "scripted", "--agent-command", script)
	}
	if t.MaxCost > 0 {
		argv = append(argv, "--max-cost", fmt.Sprintf("%g", t.left))
	}
	if t.MaxTime > 0 {
		argv = append(argv, "--max-time", t.MaxTime.String())
	}
	return argv, nil
}

const grace = 2 * time.Minute // how long a run may take to end beyond its limit

func (t *trial) script() []byte {
	var b strings.Builder
	if t.Agent == Gold {
		fmt.Fprintf(&b, "-- 1/run --\n"+
			"git diff --binary --no-renames %s %s -- . ':(exclude,icase).ralph'"+
			" | git apply --index --binary --whitespace=nowarn\n", t.task.Base, t.task.Gold)
	}
	fmt.Fprintf(&b, "-- 1/claim --\n%s: done\n-- 1/commit --\nfeat: the task\n", story)
	return []byte(b.String())
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
