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
	if len(known(gold)) == 0 && !slices.ContainsFunc(gold, func(a checkout.Answer) bool { return a.Passed }) {
		return errors.New("unusable: no check passes with the commit itself")
	}
	base, err := t.exam(ctx, t.task.Base)
	if err != nil {
		return err
	}
	if len(t.task.missed(gold, base)) == 0 {
		row.Aside = "its hidden tests pass at the base"
		return nil
	}
	told, err := t.ralph(ctx)
	row.take(told)
	if err != nil {
		return err
	}
	row.CheckRuns = logs(filepath.Join(t.work, ".ralph"))
	head, err := t.handed(ctx)
	if err != nil {
		return err
	}
	missed, err := t.missed(ctx, head, gold)
	if err != nil {
		return err
	}
	row.judge(missed)
	return nil
}

// exam returns what the checks say of a commit with the hidden tests in it.
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
func (t *trial) missed(ctx context.Context, commit string, gold []checkout.Answer) (names []string, err error) {
	for try := range 2 {
		work, err := t.exam(ctx, commit)
		if err != nil {
			return nil, err
		}
		missed := t.task.missed(gold, work)
		if try > 0 {
			missed = slices.DeleteFunc(missed, func(name string) bool { return !slices.Contains(names, name) })
		}
		if names = missed; len(names) == 0 {
			return nil, nil
		}
	}
	return names, nil
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
	if err := t.gold(ctx); err != nil {
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
	// The commit's settings and journals of ralph go.
	if err := t.git(ctx, t.work, "rm", "-r", "-f", "-q", "--ignore-unmatch", "--", ":(icase).ralph"); err != nil {
		return err
	}
	if err := (workspace.Memory{Tree: t.work}).WritePlan(plan.Plan{Project: "eval", UserStories: []plan.Story{{
		ID: story, Title: t.task.Title, Description: strings.TrimSpace(t.task.Body), AcceptanceCriteria: []string{t.task.Title}, Priority: 1,
	}}}); err != nil {
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
		Dir: into, Args: []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--upload-pack=git-upload-pack", "--", from, sha},
		Env: []string{"GIT_ALLOW_PROTOCOL=file"}, Set: []git.Setting{{Key: "transfer.fsckObjects", Value: "false"}},
	})
}

func (t *trial) gold(ctx context.Context) error {
	if t.task.Gold != "" {
		return t.fetch(ctx, t.origin, t.Store.Dir, t.task.Gold)
	}
	if err := t.git(ctx, t.origin, "checkout", "-q", "-B", "main", t.task.Base); err != nil {
		return err
	}
	for _, patch := range t.task.Patches {
		if strings.TrimSpace(patch) == "" {
			continue
		}
		apply := git.Call{Dir: t.origin, Args: []string{"apply", "--index", "--whitespace=nowarn", "-"}, Stdin: strings.NewReader(patch)}
		if err := t.call(ctx, apply); err != nil {
			return fmt.Errorf("the patch of the instance does not apply: %w", err)
		}
	}
	err := t.git(ctx, t.origin, "commit", "-q", "-m", "gold")
	if err == nil {
		t.task.Gold, err = t.Store.Git().Named(ctx, t.origin, "HEAD")
	}
	return err
}

// handed brings the agent's work beside the commit. git reads none of its repository's settings.
func (t *trial) handed(ctx context.Context) (string, error) {
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
func (t *trial) ralph(ctx context.Context) (told result.Result, err error) {
	config := filepath.Join(filepath.Dir(t.work), "settings.json")
	base, err := t.Store.ReadFile(ctx, git.At{Commit: t.task.Base, Path: baseSettings}, 1<<20)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return told, err
	}
	settings, err := t.file(base)
	if err != nil {
		return told, err
	}
	if err := untrusted.WriteFile(config, settings, 0o600); err != nil {
		return told, err
	}
	argv := append([]string{t.Self, "run", "-d", t.work, "--json", "--no-emoji", "--config", config}, t.Flags...)
	if t.Agent == Gold || t.Agent == None {
		script := filepath.Join(filepath.Dir(t.work), "agent.txtar")
		if err := untrusted.WriteFile(script, t.script(), 0o644); err != nil {
			return told, err
		}
		argv = append(argv, "--agent", "scripted", "--agent-command", script)
	}
	if t.MaxCost > 0 {
		argv = append(argv, "--max-cost", fmt.Sprintf("%g", t.left))
	}
	if t.MaxTime > 0 {
		argv = append(argv, "--max-time", t.MaxTime.String())
	}
	var out, said bytes.Buffer
	command := process.Command{Argv: argv, Dir: t.work, Env: t.Env, Stdout: &out, Stderr: &said, Grace: grace}
	if t.MaxTime > 0 { // a run ends at its own limit, with a result
		command.Timeout = t.MaxTime + grace
	}
	ended, err := t.Exec(ctx, command)
	if err == nil && json.Unmarshal(out.Bytes(), &told) != nil {
		err = fmt.Errorf("ralph run: exit %d: %s", ended.Exit, git.OneLine(last(said.String()), 300))
	}
	if told.StopReason == "" || told.StopReason == policy.BudgetExhausted { // it may have spent all
		told.TotalCostUSD = new(max(policy.Given(told.TotalCostUSD, 0), t.left))
	}
	return told, err
}

const grace = 2 * time.Minute // how long a run may take to end beyond its limit

func (t *trial) script() []byte {
	var b strings.Builder
	if t.Agent == Gold {
		fmt.Fprintf(&b, "-- 1/run --\ngit diff --binary --no-renames %s %s -- . ':(exclude,icase).ralph' | git apply --index --binary --whitespace=nowarn\n", t.task.Base, t.task.Gold)
	}
	fmt.Fprintf(&b, "-- 1/claim --\n%s: done\n-- 1/commit --\nfeat: the task\n", story)
	return []byte(b.String())
}

// logs returns how often checks ran in a run: each time leaves a log.
func logs(dir string) (n int) {
	entries, err := untrusted.ReadDir(dir)
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "guardrail_") && strings.HasSuffix(entry.Name(), ".log") {
			n++
		}
	}
	return n
}

func last(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
