// Package job owns the resources of a run: its folder, lock, journal,
// worktrees and outputs. It connects agent, checks and git to the loop, and
// releases everything when the run ends. It has no rules of its own.
package job

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/attachment"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/publish"
	"github.com/ralph-loop/ralph/internal/sigstore"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Job is everything that does not change from one run to the next.
type Job struct {
	Machine
	Code
	Remote
	Agents
	Audience

	Drain       <-chan struct{} // closed: end after the step under way
	Abort       <-chan struct{} // closed: end now, as if killed: nothing more is written or shown
	Version     string          // of this program
	SaveTimeout time.Duration   // how long saving work may take once the run was cancelled
	KeepTrees   bool            // leave the trees behind
	PageWanted  bool            // write the run's page beside its journal
	OutputDir   string          // the folder in which files for later steps of a job are put; empty: none are
}

// Machine is what commands run with.
type Machine struct {
	Folder      workspace.Folder
	SettingsDir string // the project in the tree whose settings count; empty: the one of Folder
	Exec        func(context.Context, process.Command) (process.Result, error)
	Now         func() time.Time
	Git         git.Git
	Sandbox     *confine.Sandbox // round the agent and its checks; nil: none. Its maker closes it
	CheckEnv    []string
	// CheckSecrets are variables of the checks of clean checkouts alone.
	CheckSecrets []string
	UserEnv      []string                       // what the user's own version control runs with
	Redact       func(io.Writer) io.WriteCloser // takes secrets out of the agent's transcripts
	Grace        time.Duration                  // for agents and checks to end politely; 0: the usual
}

// Code is where the code comes from, and where the agent works on it.
type Code struct {
	Origin   Origin    // nil: nothing is handed over and nothing proven
	UserTree *git.Tree // the user's tree, where the agent works in it; nil: in a tree apart
	Dir      string    // the folder the agent works in, where that is no repository
	// Project holds what people wrote for the loop, such as its prompt.md;
	// empty in the Action, where only the program's words count.
	Project string
}

// Remote is where the work goes, and the run's own files.
type Remote struct {
	BranchHost BranchHost             // nil: the work stays where it is
	Signer     Signer                 // nil: no commit is signed
	Attest     *sigstore.Notary       // nil: no evidence is signed
	Pulls      Pulls                  // nil: a branch is all there is
	RunStore   RunStore               // nil: the run is on this machine alone
	HasSecret  func(text []byte) bool // tells of one in what is to be pushed; nil: there are none
	// Comment finds or makes the progress comment; nil: there is none.
	Comment func(context.Context, view.Texts) (journal.CommentPosted, error)
}

// Agents are those that work, and those that give an opinion.
type Agents struct {
	Agent       agent.Adapter
	Attachments []attachment.File // to the issue
	AgentEnv    []string          // what an agent's environment is built on
	Reviewer    *Reviewer         // asked for a second opinion where the policy wants one; nil: none is
	Supervised  *Supervised       // a command in the place of an agent
	Watch       func(stream.Item)
	// Held is the model server of agents that no sandbox confines; nil: they ask their
	// models themselves. Its maker closes it.
	ModelServer *confine.Sandbox
}

// Audience is who hears of what happens.
type Audience struct {
	Screens     []publish.Screen
	Interval    time.Duration                    // the least time between two showings on a screen
	OnEvent     func(journal.Run, journal.Event) // what happens, for a console; nil: as lines of Log
	Log         func(line string)                // a line for people, as things happen
	HideSecrets func(line []byte) []byte         // takes secrets out of the journal
	OnCheck     func(policy.Check)               // hears of each check that is about to run; nil: none does
}

// Origin is where the code comes from.
type Origin interface {
	// Fetch makes dir a repository of the program's own that holds the base and,
	// where there is one, the branch; on a dir that is one, it fetches again.
	Fetch(ctx context.Context, dir, base, branch string) (*git.Trusted, error)
}

// BranchHost is where the branch goes.
type BranchHost interface {
	Push(ctx context.Context, from *git.Trusted, branch, sha string) error
	// Free is a name for another branch: one that is not there, or stands at sha.
	FreeBranch(ctx context.Context, from *git.Trusted, branch, sha string) (string, error)
	// Bring fetches a commit that was there.
	FetchCommit(ctx context.Context, to *git.Trusted, sha string) error
}

// Signer has commits made again with a signature.
type Signer interface {
	Sign(ctx context.Context, from *git.Trusted, run journal.Run) (journal.Signed, error)
}

// Pulls is where pull requests are opened.
type Pulls interface {
	OpenPull(ctx context.Context, run journal.Run, text view.Pull) (journal.PullOpened, error)
	ReadyPull(ctx context.Context, run journal.Run) error
}

// RunStore is where a run's own files are kept, for a machine that comes after.
type RunStore interface {
	// Put keeps files in the place of what was kept before. ErrTakenOver says that
	// somebody else has put something there since.
	Put(ctx context.Context, run journal.Run, files map[string][]byte) (journal.Shelved, error)
}

// NewRun is a run to begin.
type NewRun struct {
	ID           string
	Policy       policy.Policy
	Task         plan.Task
	Plan         plan.Plan
	Source       string
	Vague        bool // an agent is to make the plan
	BaseRef      string
	Base         string // its commit, where the agent works in the user's own tree
	Work         string // the user's files as they are, as a tree
	Branch       string
	Level        string
	Links        journal.Links
	Requester    journal.Person // who asks
	Notes        []journal.Noted
	Pull         *journal.PullOpened // that the work is for, where ralph opened it in an earlier run
	DetectChecks bool                // use what the base's own files suggest where no check is named
}

// Outcome is how a run stands when the job is done with it.
type Outcome struct {
	Run  journal.Run
	Home workspace.Run
}

// Start begins a run and sees it through.
func (j *Job) Start(ctx context.Context, asked NewRun) (Outcome, error) {
	release, err := j.Folder.Lock()
	if err != nil {
		return Outcome{}, err
	}
	defer release() //nolint:errcheck // the kernel gives the lock back anyway
	home, err := j.Folder.New(asked.ID)
	if err != nil {
		return Outcome{}, err
	}
	return j.runLoop(ctx, home, asked.BaseRef, asked.Branch, func(s *activeRun) error {
		return s.recordBegin(ctx, asked)
	})
}

// Resume goes on with a run, and grants its limits anew.
func (j *Job) Resume(ctx context.Context, home workspace.Run, resumed journal.Resumed) (Outcome, error) {
	release, err := j.Folder.Lock()
	if err != nil {
		return Outcome{}, err
	}
	defer release() //nolint:errcheck // the kernel gives the lock back anyway
	entries, err := home.Entries()
	if err != nil {
		return Outcome{}, err
	}
	old := journal.Fold(journal.Run{}, entries...)
	return j.runLoop(ctx, home, old.BaseRef, old.Branch, func(s *activeRun) error {
		outward := s.branchPublisher()
		if err := outward.restoreWork(ctx, old); err != nil {
			return err
		}
		if err := s.Append(resumed); err != nil {
			return err
		}
		return outward.mergePushed(ctx, s.Run())
	})
}

// runLoop opens the site, has its first event written, and runs the loop.
func (j *Job) runLoop(ctx context.Context, home workspace.Run, base, branch string, first func(*activeRun) error) (Outcome, error) {
	s, err := j.open(ctx, home, base, branch)
	if err != nil {
		return Outcome{Home: home}, err
	}
	defer s.close() //nolint:errcheck // the journal was synced line by line
	if err := first(s); err != nil {
		return Outcome{Home: home}, err
	}
	if err := s.allowPackageHosts(ctx); err != nil {
		return Outcome{Run: s.Run(), Home: home}, err
	}
	if err := s.warnOfLimits(); err != nil {
		return Outcome{Home: home}, err
	}
	if err := s.postProgressComment(ctx); err != nil {
		return Outcome{Home: home}, err
	}
	err = loop.Loop{Handlers: s.handlers(), Journal: s, Drain: s.Drain, SaveTimeout: s.SaveTimeout}.Run(ctx)
	s.saver().saveBundle(ctx)
	s.signEvidence(ctx)
	s.saver().saveStoppedRun(ctx)
	s.writePage(ctx)
	return Outcome{Run: s.Run(), Home: home}, errors.Join(err, s.removeTrees())
}

// postProgressComment finds or makes the progress comment. A run is not worth less because
// its comment failed; it is said in the log. A run that goes on looks again:
// the comment may be gone.
func (s *activeRun) postProgressComment(ctx context.Context) error {
	if s.Comment == nil {
		return nil
	}
	posted, err := s.Comment(ctx, view.Of(s.Run()))
	if err != nil {
		s.Log("could not create the progress comment: " + fault.Told(err))
		return nil
	}
	if known := s.Run().Comment; known != nil && *known == posted {
		return nil
	}
	return s.Append(posted)
}
