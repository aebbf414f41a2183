// Package job owns the resources of a run: its folder, lock, journal,
// worktrees and outputs. It connects agent, checks and git to the loop, and
// releases everything when the run ends. It has no rules of its own.
//
// The parts of a run contain each other: records writes its journal, trees adds
// the repository, turns the agents, and activeRun the steps. publishing, scm and
// supervision each do a few of these steps.
package job

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Job is everything that does not change from one run to the next.
type Job struct {
	Machine
	Code
	Remote
	Agents
	Audience

	Drain       <-chan struct{} // closed: end after the current step
	Abort       <-chan struct{} // closed: end now; record only what the agent used, save and show nothing
	Version     string          // of this program
	SaveTimeout time.Duration   // limits saving the work after the run was cancelled
	KeepTrees   bool            // do not remove the trees
	PageWanted  bool            // write the report page beside the journal
	OutputDir   string          // for files that later steps of the job use; empty: none
}

// Machine is what commands run with.
type Machine struct {
	Folder      workspace.Folder
	TreesBeside bool // keeps the trees of runs beside the digests of their journals
	Exec        func(context.Context, process.Command) (process.Result, error)
	Now         func() time.Time
	Git         git.Git
	Sandbox     *confine.Sandbox // of the agent and its checks; nil: none. The caller closes it
	CheckEnv    []string

	CheckSecrets []string                       // variables for checks of clean checkouts alone
	Kept         checkout.Kept                  // where baselines are kept
	UserEnv      []string                       // for the user's own version control
	Redact       func(io.Writer) io.WriteCloser // removes secrets from the agent's transcripts
	Grace        time.Duration                  // for agents and checks to end; 0: the default
}

// Code is where the code comes from, and where the agent works on it.
type Code struct {
	// Origin makes dir ralph's own repository, with the base and the branch if it exists. If dir is
	// one already, it fetches again. nil: nothing is handed over and nothing proven.
	Origin   func(ctx context.Context, dir, base, branch string) (*git.Trusted, error)
	UserTree *git.Tree   // in which the agent works; nil: it has its own clone
	Dir      string      // in which the agent works if there is no repository
	Box      *UserFolder // to which the work goes from a box; nil: the agent works there, or the work is pushed
	Project  string      // holds people's files for the loop, such as prompt.md; empty in the Action
}

// Remote is where the work and the run's own files are published.
type Remote struct {
	BranchHost BranchHost // nil: nothing is pushed
	// Sign makes commits again with a signature; nil: no commit is signed.
	Sign  func(ctx context.Context, from *git.Trusted, run journal.Run) (journal.Signed, error)
	Pulls Pulls // nil: only a branch is pushed
	// RunStore replaces a run's own files for another machine. ErrTakenOver says that another job
	// saved some since. nil: the run is on this machine alone.
	RunStore  func(ctx context.Context, run journal.Run, files map[string][]byte) (journal.Shelved, error)
	HasSecret func(text []byte) bool // checks what is pushed; nil: there are no secrets
	Comment   func(context.Context, view.Texts) (journal.CommentPosted, error)
}

// Agents are the agents that work or give opinions.
type Agents struct {
	Agent       agent.Adapter
	Attachments []attachment.File // to the issue
	AgentEnv    []string          // the base of an agent's environment
	Reviewer    *Reviewer         // gives second opinions; nil: none
	Supervised  *Supervised       // a command instead of an agent
	Watch       func(stream.Item)
}

// Audience is who is informed about the run.
type Audience struct {
	Screens     []publish.Screen
	Interval    time.Duration                     // the least time between two updates of a screen
	OnEvent     func(journal.Run, journal.Event)  // for a console
	Log         func(line string)                 // prints a line for people
	HideSecrets func(line []byte) []byte          // removes secrets from the journal
	OnCheck     func(kind string, _ policy.Check) // called before each check or command of setup; nil: not called
}

// BranchHost is the repository to which the branch is pushed.
type BranchHost interface {
	Push(ctx context.Context, from *git.Trusted, u remote.Update) error
	// FetchCommit fetches a commit that was pushed before.
	FetchCommit(ctx context.Context, to *git.Trusted, sha string) error
}

// Pulls opens pull requests.
type Pulls interface {
	OpenPull(ctx context.Context, run journal.Run, text view.Pull) (journal.PullOpened, error)
	ReadyPull(ctx context.Context, run journal.Run) error
}

// NewRun is a run to begin. The job finds its commits and trees.
type NewRun struct {
	journal.RunBegan
	Notes        []journal.Noted
	DetectChecks bool        // if no check is configured, use those that the base's files suggest
	Unfinished   journal.Run // of the same branch; nothing proved its commits
}

// Outcome is the state of a run when the job ends.
type Outcome struct {
	Run  journal.Run
	Home workspace.Run
}

// Start begins a run and works until it stops.
func (j *Job) Start(ctx context.Context, asked NewRun) (Outcome, error) {
	release, err := j.Folder.Lock()
	if err != nil {
		return Outcome{}, err
	}
	defer release() //nolint:errcheck // the kernel gives the lock back anyway
	home, err := j.Folder.NewRun(asked.Run)
	if err != nil {
		return Outcome{}, err
	}
	return j.runLoop(ctx, home, asked.BaseRef, asked.Branch, func(s *activeRun) error {
		return s.recordBegin(ctx, asked)
	})
}

// Resume continues a run, and grants its limits again.
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
		if err := s.publishing.restoreWork(ctx, old); err != nil {
			return err
		}
		if err := s.Append(resumed); err != nil {
			return err
		}
		return s.publishing.mergePushed(ctx, s.Run())
	})
}

func (j *Job) runLoop(
	ctx context.Context,
	home workspace.Run,
	base, branch string,
	first func(*activeRun) error,
) (Outcome, error) {
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
	s.clean = s.cleanCheckouts()
	s.prover = s.clean.Prover()
	err = loop.Loop{Do: s.doStep, Journal: s, Drain: s.Drain, SaveTimeout: s.SaveTimeout}.Run(ctx)
	s.publishing.saveBundle(ctx)
	s.writeEvidence(ctx)
	s.saveStoppedRun(ctx)
	s.writePage(ctx)
	return Outcome{Run: s.Run(), Home: home}, errors.Join(err, s.removeTrees(context.WithoutCancel(ctx)))
}

// postProgressComment only logs errors. A resumed run looks again: the comment may have been deleted.
func (s *records) postProgressComment(ctx context.Context) error {
	if s.Comment == nil {
		return nil
	}
	posted, err := s.Comment(ctx, view.Of(s.Run()))
	if err != nil {
		s.Log("could not create the progress comment: " + fault.Told(err))
		return nil
	}
	if known := s.Run().Published.Comment; known != nil && *known == posted {
		return nil
	}
	return s.Append(posted)
}
