package plan_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

// Every archive in testdata/merge has a plan, an agent's version of it, and the
// expected result.
func TestMergeStories(t *testing.T) {
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kept, proposed, want := archive.Files[0], archive.Files[1], &archive.Files[2]
			got := merged(t, plan.Merge(unmarshal(t, kept.Data), unmarshal(t, proposed.Data)))
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("%sMerge (-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

func unmarshal(t *testing.T, data []byte) plan.Plan {
	t.Helper()
	var p plan.Plan
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// merged returns a merged plan as lines of text.
func merged(t *testing.T, m plan.Merged) string {
	t.Helper()
	var lines []string
	add := func(value any) {
		line, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	for _, story := range m.Plan.UserStories {
		add(story)
	}
	m.Plan.UserStories = nil
	add(m.Plan)
	lines = append(lines, fmt.Sprintf("claimed %q, undone %q, restored %q", m.Claimed, m.Undone, m.Restored))
	return strings.Join(lines, "\n") + "\n"
}

// After any change by an agent, every criterion is in a story, no story passes that did
// not before, the plan can be read again, and merging it with itself changes nothing.
func TestMergeNeverLosesACriterion(t *testing.T) {
	for seed := range uint64(1000) {
		dice := rand.New(rand.NewPCG(seed, 11))
		kept := withCriteria(dice, someplan(int(seed)))
		proposed := tampered(dice, kept)
		before := text(t, kept)
		m := plan.Merge(kept, proposed)
		for _, story := range kept.UserStories {
			for _, criterion := range story.AcceptanceCriteria {
				if !requires(m.Plan, criterion, story.Passes) {
					t.Errorf("seed %d: %q of %s is lost in\n%s", seed, criterion, story.ID, merged(t, m))
				}
			}
		}
		for _, story := range m.Plan.UserStories {
			if old, _ := kept.Find(story.ID); story.Passes != old.Passes {
				t.Errorf("seed %d: passes of %s = %t set by the agent", seed, story.ID, story.Passes)
			}
		}
		if _, err := plan.Read("prd.json", []byte(text(t, m.Plan))); err != nil {
			t.Errorf("seed %d: Read(Merge) = %v", seed, err)
		}
		if diff := cmp.Diff(plan.Merged{Plan: m.Plan}, plan.Merge(m.Plan, m.Plan)); diff != "" {
			t.Errorf("seed %d: merging a plan with itself changes it (-before +after):\n%s", seed, diff)
		}
		if after := text(t, kept); after != before {
			t.Errorf("seed %d: the kept plan was written to (-before +after):\n%s", seed, cmp.Diff(before, after))
		}
	}
}

// requires reports whether p has a criterion, in an open story unless its story had passed.
func requires(p plan.Plan, criterion string, passed bool) bool {
	return slices.ContainsFunc(p.UserStories, func(s plan.Story) bool {
		return slices.Contains(s.AcceptanceCriteria, criterion) && (passed || !s.Passes)
	})
}

func text(t *testing.T, p plan.Plan) string {
	t.Helper()
	data, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// withCriteria returns the stories of p criteria, and lets some pass.
func withCriteria(dice *rand.Rand, p plan.Plan) plan.Plan {
	for i := range p.UserStories {
		story := &p.UserStories[i]
		story.Passes = dice.IntN(4) == 0
		story.AcceptanceCriteria = nil
		for n := range 1 + dice.IntN(3) {
			story.AcceptanceCriteria = append(story.AcceptanceCriteria, fmt.Sprintf("%s.%d", story.ID, n))
		}
	}
	return p
}

// tampered returns p with random changes: stories dropped, doubled, emptied, renamed
// and added, criteria dropped and moved.
func tampered(dice *rand.Rand, p plan.Plan) plan.Plan {
	var all []string
	for _, story := range p.UserStories {
		all = append(all, story.AcceptanceCriteria...)
	}
	out := p
	out.UserStories = nil
	for _, story := range p.UserStories {
		if dice.IntN(4) == 0 {
			continue
		}
		story.Passes = dice.IntN(2) == 0
		story.AcceptanceCriteria = slices.DeleteFunc(slices.Clone(story.AcceptanceCriteria), func(string) bool { return dice.IntN(3) == 0 })
		if dice.IntN(5) == 0 {
			story.DependsOn = nil
		}
		if dice.IntN(9) == 0 {
			story.ID = "US-000"
		}
		out.UserStories = append(out.UserStories, story)
	}
	for n := range dice.IntN(4) {
		fresh := plan.Story{ID: fmt.Sprintf("NEW-%d", n), Title: "new", Passes: dice.IntN(2) == 0}
		for range 1 + dice.IntN(4) {
			fresh.AcceptanceCriteria = append(fresh.AcceptanceCriteria, all[dice.IntN(len(all))])
		}
		out.UserStories = append(out.UserStories, fresh)
	}
	return out
}

// A plan that is too large to be read again is refused as a whole.
func TestMergeTakesNothingThatCannotBeRead(t *testing.T) {
	kept := plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "a", AcceptanceCriteria: []string{"b"}}}}
	proposed := plan.Plan{UserStories: slices.Clone(kept.UserStories)}
	proposed.UserStories[0].Passes, proposed.UserStories[0].Notes = true, strings.Repeat("long ", 1<<18)
	m := plan.Merge(kept, proposed)
	if diff := cmp.Diff(kept, m.Plan); diff != "" {
		t.Errorf("Merge (-kept +got):\n%s", diff)
	}
	if len(m.Undone) != 1 || !strings.HasPrefix(m.Undone[0], "the plan was not valid: write plan: ") || !slices.Equal(m.Claimed, []string{"US-001"}) {
		t.Errorf("undone %.80q, claimed %q", m.Undone, m.Claimed)
	}
}
