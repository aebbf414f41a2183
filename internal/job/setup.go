package job

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// runSetupCommands runs the commands that make the agent's tree ready. Their way out is
// setup's.
func (s *activeRun) runSetupCommands(ctx context.Context, run journal.Run, dir, label string, emit emit) (ready bool, err error) {
	defer s.Sandbox.Tell(emit)
	hand := s.checkRunner(run, dir)
	if s.Sandbox != nil {
		access := s.confined().access(dir)
		access.Setup = true
		hand.Run, hand.Env = s.Sandbox.Around(access), s.Sandbox.SetupEnv(s.CheckEnv, false)
	}
	return hand.Setup(ctx, checkJob(run, dir, label), run.Policy.Setup, emit)
}

// runSetup makes a tree that is the run's own ready before an agent works in it:
// agents run the checks, too. Where that fails it is tried again before the
// next iteration; what it said is on record.
func (s *activeRun) runSetup(ctx context.Context, run journal.Run, number int, emit emit) error {
	if _, done := s.readSetupMarker(); done || len(run.Policy.Setup) == 0 {
		return nil
	}
	tree, err := s.treeOfRun(ctx, run)
	if err != nil || tree == nil {
		return err
	}
	fresh := isUnused(ctx, run, tree)
	ready, err := s.runSetupCommands(ctx, run, tree.Dir, strconv.Itoa(number), emit)
	if err != nil {
		return err
	}
	var strays []string
	if fresh {
		strays, err = s.ignoreSetupFiles(ctx, run, tree)
	}
	if err != nil || !ready {
		return err
	}
	return s.writeSetupMarker(strays)
}

// treeOfRun is the tree that was made for the run, nil where the agent works in one
// of the user's: that is as its user wants it.
func (s *activeRun) treeOfRun(ctx context.Context, run journal.Run) (*git.Tree, error) {
	switch at := s.agentDir.(type) {
	case *clonedTree:
		return at.tree(ctx)
	case *userCheckout:
		if run.Policy.Apart {
			return at.tree, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none, and nothing is wrong
}

// ignoreSetupFiles has nothing that setup did in a fresh tree taken for work. A tree of
// the program's own ignores it, so that it is in no commit, the agent's own
// too; what the user's repository ignores is not the program's to say.
func (s *activeRun) ignoreSetupFiles(ctx context.Context, run journal.Run, tree *git.Tree) ([]string, error) {
	if err := tree.Restore(ctx, run.Head); err != nil {
		return nil, err
	}
	if at, is := s.agentDir.(*userCheckout); is {
		var err error
		at.snapshot.checkFiles, err = setupLeftovers(ctx, run, tree)
		return nil, err
	}
	strays, err := tree.Strays(ctx)
	if err != nil {
		return nil, err
	}
	return strays, tree.Ignore(strays)
}

// setupLeftovers is what lies in a fresh tree besides its commit.
func setupLeftovers(ctx context.Context, run journal.Run, tree *git.Tree) (git.Leftovers, error) {
	tree.Beside = LoopFiles(run.Policy)
	now, err := tree.Look(ctx)
	if err != nil {
		return nil, err
	}
	return tree.Leftovers(ctx, git.Span{From: now.Tree, To: now.Work})
}

// setupMarker is the note that the tree is ready, and of what git overlooks in
// it since.
const setupMarker = "tree.ready"

func (s *activeRun) readSetupMarker() (strays []string, is bool) {
	data, err := untrusted.ReadFile(s.home.File(setupMarker), 64<<20)
	return strays, err == nil && json.Unmarshal(data, &strays) == nil
}

func (s *activeRun) writeSetupMarker(strays []string) error {
	data, err := json.Marshal(append([]string{}, strays...))
	if err == nil {
		err = untrusted.WriteFile(s.home.File(setupMarker), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note that the tree is ready: %w", err)
	}
	return nil
}

// isUnused tells whether a tree is still unused.
func isUnused(ctx context.Context, run journal.Run, tree *git.Tree) bool {
	seen, err := tree.Inspect(ctx)
	return err == nil && seen.Head == run.Head && !seen.Dirty
}
