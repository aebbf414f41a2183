package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// MaxSize is larger than any evidence.
const MaxSize = 32 << 20

// Read reads the file of Marshal. It refuses other versions and unknown fields.
func Read(data []byte) (Evidence, error) {
	var e Evidence
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var version struct{ Version int }
	switch err := json.Unmarshal(data, &version); {
	case err != nil:
		return e, fmt.Errorf("read the evidence: %w", err)
	case version.Version != Version:
		return e, fmt.Errorf("it has version %d, this program reads %d", version.Version, Version)
	}
	if err := decoder.Decode(&e); err != nil {
		return e, fmt.Errorf("read the evidence: %w", err)
	}
	switch {
	case e.Proof == nil:
		return e, errors.New("it has no proof of its newest commit")
	case len(e.Rules.Checks) == 0:
		return e, errors.New("it has no checks")
	case e.Baseline == nil:
		return e, errors.New("it has no results of the checks at the base")
	}
	return e, e.checkNames()
}

// checkNames refuses a name that two checks or two stories have: a result would count for both.
func (e Evidence) checkNames() error {
	known := map[string]bool{}
	names := slices.Concat(
		each(e.Rules.Checks, func(c Command) string { return "check " + c.Name }),
		each(e.Stories, func(s Story) string { return "story " + s.ID }),
	)
	for _, name := range names {
		if known[name] {
			return fmt.Errorf("it has two of the name %.80q", name)
		}
		known[name] = true
	}
	return nil
}

// NewRun returns the run without results, to repeat its checks.
func (e Evidence) NewRun() (journal.Run, error) {
	run := journal.Run{
		ID: e.Run, Base: e.Code.Base, Start: e.Code.Base, Head: e.Proof.Commit, Tree: e.Proof.Tree,
		Policy: policy.Policy{Done: policy.ByStories, Baseline: e.Rules.Baseline, Proof: e.Rules.Proof, Tamper: e.Rules.Tamper, Protect: e.Rules.Protect, Subfolder: e.Rules.Within, Memory: e.Rules.Memory},
	}
	if run.Policy.Subfolder != "" && !filepath.IsLocal(run.Policy.Subfolder) {
		return run, fmt.Errorf("its commands run in %q, which is outside the repository", run.Policy.Subfolder)
	}
	var err error
	if run.Policy.Checks, err = parseChecks(e.Rules.Checks); err != nil {
		return run, err
	}
	if run.Policy.Setup, err = parseChecks(e.Rules.Setup); err != nil {
		return run, err
	}
	for _, story := range e.Stories {
		run.Plan.UserStories = append(run.Plan.UserStories, plan.Story{ID: story.ID, Title: story.Title, AcceptanceCriteria: story.Criteria, Passes: story.Passes})
		// So that these tests grade no other story.
		run.Grades = append(run.Grades, journal.StoryGraded{Story: story.ID, Tests: story.Tests})
	}
	return run, nil
}

func parseChecks(commands []Command) ([]policy.Check, error) {
	var all []policy.Check
	for _, command := range commands {
		check := policy.Check{Name: command.Name, Command: command.Command, Paths: command.Paths, Added: command.Added}
		if command.Timeout != "" {
			limit, err := policy.ParseDuration(command.Timeout)
			if err != nil {
				return nil, fmt.Errorf("the timeout of %q: %w", command.Name, err)
			}
			check.Timeout = limit
		}
		all = append(all, check)
	}
	return all, nil
}

// Inspections returns those that the evidence claims: of the commits that prove stories, and of what people allowed.
func (e Evidence) Inspections() (all []journal.ChangeInspected) {
	for _, story := range e.Stories {
		if story.Proven && story.Proof != nil {
			all = append(all, journal.ChangeInspected{Commit: story.Commit, Tree: story.Proof.Tree})
		}
	}
	if e.Inspection != nil && slices.ContainsFunc(e.Stories, func(s Story) bool { return s.MayChangeTests }) {
		all = append(all, journal.ChangeInspected{Shown: e.Inspection.Shown})
	}
	return all
}

// EarlierStories returns the stories with a proof of an earlier commit.
func (e Evidence) EarlierStories() []Story {
	return slices.DeleteFunc(slices.Clone(e.Stories), func(s Story) bool {
		return !s.Passes || s.Proof == nil || s.Proof.Tree == e.Proof.Tree
	})
}

// GradedStories returns the stories with a better grade than unbroken.
func (e Evidence) GradedStories() []Story {
	return slices.DeleteFunc(slices.Clone(e.Stories), func(s Story) bool {
		return s.Grade == journal.Unbroken || s.Grade == journal.Unverified || s.Grade == ""
	})
}

// CommitsByStory returns the commits of each story.
func (e Evidence) CommitsByStory() map[string][]string {
	all := map[string][]string{}
	for _, it := range e.Iterations {
		all[it.Story] = append(all[it.Story], it.Commits...)
	}
	return all
}

// PredicateType is the type of a signed statement whose predicate is evidence.
const PredicateType = "https://github.com/ralph-loop/ralph/blob/main/docs/proof.md#signed-evidence"

// Statement returns the statement about an evidence file, its newest commit and that
// commit's tree. The file is a subject for programs that only know files.
func Statement(file []byte) ([]byte, error) {
	e, err := Read(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(file)
	return attest.Of(PredicateType, json.RawMessage(file),
		attest.Subject{Name: "commit", Digest: map[string]string{"gitCommit": e.Code.Head}},
		attest.Subject{Name: "tree", Digest: map[string]string{"gitTree": e.Code.Tree}},
		attest.Subject{Name: "evidence.json", Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}})
}

// FromStatement returns the evidence in a statement whose signature was verified.
func FromStatement(s attest.Statement) (Evidence, error) {
	if s.PredicateType != PredicateType {
		return Evidence{}, fmt.Errorf("its type is %q, want %q", s.PredicateType, PredicateType)
	}
	e, err := Read(s.Predicate)
	if err == nil && e.Proof.Tree != e.Code.Tree {
		err = errors.New("its proof is not about the tree of its newest commit")
	}
	if err == nil && (s.Digest("gitCommit") != e.Code.Head || s.Digest("gitTree") != e.Code.Tree || e.Code.Head == "" || e.Code.Tree == "") {
		err = errors.New("its subject is not the commit of its evidence")
	}
	return e, err
}
