// Package eval tries an agent on commits that a repository already has. The base is a commit's parent, and the task is
// the commit's text. The work of an ordinary run is then checked with the commit's own tests, which the agent never
// saw.
package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// The agents that need no model: one applies the commit itself, one does nothing.
const (
	Gold = "gold"
	None = "none"
)

// Eval is a series of tasks with their settings.
type Eval struct {
	Repo  string       // the clone, where names of commits hold
	Store *git.Trusted // reads the clone's objects; everything but a name comes from here
	Dir   string       // an empty folder
	Self  string       // this program
	Agent string       // what it is called in the results; Gold and None need no model
	Flags []string     // of `ralph run`
	Settings
	MaxCost float64 // dollars for all tasks; 0: no limit
	MaxTime time.Duration
	Rules   checkout.Rules
	// Verify has a verifier do its work.
	Verify func(ctx context.Context, project string, do func(*checkout.Verifier) error) error
	Exec   func(context.Context, process.Command) (process.Result, error)
	Env    []string
	Now    func() time.Time
	Began  func(number, of int, task Task) // called before a task is tried
	Done   func(Row) error                 // is called after each task
}

// Settings are those that no flag of ralph run names.
type Settings struct {
	Setup, Hosts, Env []string
}

// baseSettings are a stranger's. Only those that run in the sandbox or make a proof stricter count.
const baseSettings = ".ralph/settings.json"

func (s Settings) file(base []byte) ([]byte, error) {
	var theirs struct {
		Guardrails json.RawMessage `json:"guardrails,omitempty"`
		Protect    json.RawMessage `json:"protect,omitempty"`
		Proof      json.RawMessage `json:"proof,omitempty"`
		Tamper     json.RawMessage `json:"tamper,omitempty"`
		Tests      json.RawMessage `json:"tests,omitempty"`
		Reports    json.RawMessage `json:"reports,omitempty"`
		Setup      []string        `json:"setup,omitempty"`
		Baseline   policy.Baseline `json:"baseline"`
		Sandbox    struct {
			Hosts []string `json:"allowDomains,omitzero"`
			Env   []string `json:"env,omitempty"`
		} `json:"sandbox,omitzero"`
	}
	if base != nil {
		if err := json.Unmarshal(base, &theirs); err != nil {
			return nil, fmt.Errorf("read %s of the base: %w", baseSettings, err)
		}
	}
	theirs.Setup = append(theirs.Setup, s.Setup...)
	theirs.Baseline = policy.BaselineNew
	theirs.Sandbox.Hosts = s.Hosts
	theirs.Sandbox.Env = s.Env
	return json.Marshal(theirs)
}

// Run works on the tasks that rows do not have, until the money is spent.
func (e *Eval) Run(ctx context.Context, tasks []Task, rows []Row) ([]Row, error) {
	var all []Row
	spent := 0.0
	for number, task := range tasks {
		i := slices.IndexFunc(rows, func(row Row) bool { return row.ID == task.ID && row.Agent == e.Agent })
		switch {
		case i >= 0:
			all = append(all, rows[i])
		case e.MaxCost > 0 && spent >= e.MaxCost:
			return all, nil
		default:
			e.Began(number+1, len(tasks), task)
			row := e.try(ctx, task, e.MaxCost-spent)
			if ctx.Err() != nil {
				return all, ctx.Err()
			}
			if err := e.Done(row); err != nil {
				return all, err
			}
			all = append(all, row)
		}
		spent += all[len(all)-1].CostUSD
	}
	return all, nil
}

// try works on one task, and leaves nothing behind.
func (e *Eval) try(ctx context.Context, task Task, left float64) Row {
	row := Row{ID: task.ID, Agent: e.Agent, Base: task.Base, Title: git.OneLine(task.Title, 100)}
	began := e.Now()
	if err := e.tryIn(ctx, task, left, &row); err != nil {
		row.Error = git.OneLine(err.Error(), 400)
	}
	row.Seconds = e.Now().Sub(began).Seconds()
	return row
}

// tryIn works on a task in a folder of its own, and fills in the row.
func (e *Eval) tryIn(ctx context.Context, task Task, left float64, row *Row) error {
	dir, err := os.MkdirTemp(e.Dir, "task-")
	if err != nil {
		return err
	}
	t := trial{
		Eval:   e,
		task:   task,
		origin: filepath.Join(dir, "origin"),
		work:   filepath.Join(dir, "work"),
		left:   left,
	}
	err = t.run(ctx, row)
	return errors.Join(err, untrusted.RemoveAll(dir))
}

const gitTimeout = 10 * time.Minute

// git runs git in a repository that this package made.
func (e *Eval) git(ctx context.Context, dir string, args ...string) error {
	return e.call(ctx, git.Call{Dir: dir, Args: args})
}

func (e *Eval) call(ctx context.Context, c git.Call) error {
	c.Set = append(c.Set,
		git.Setting{Key: "user.name", Value: "ralph"},
		git.Setting{Key: "user.email", Value: "ralph@localhost"})
	c.Timeout = gitTimeout
	_, err := e.Store.Git().Do(ctx, c)
	return err
}
