package plan

import (
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Marshal returns the plan as a file: known keys in the type's order, then unknown ones.
func (p Plan) Marshal() ([]byte, error) {
	type bare Plan
	data, err := jsonv2.Marshal(bare(p), exact, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	data = append(data, '\n')
	if len(data) > maxBytes {
		return nil, fmt.Errorf("write plan: %d bytes, want at most %d", len(data), maxBytes)
	}
	return data, nil
}

// exact has the options with which older versions wrote journals, so that their plans can be read unchanged.
var exact = jsonv2.JoinOptions(
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
	jsontext.EscapeForJS(true),
)

// MarshalJSON keeps unknown keys, and writes empty lists for an agent to fill in.
func (p Plan) MarshalJSON() ([]byte, error) {
	type bare Plan
	return jsonv2.Marshal(bare(p), exact)
}

// MarshalJSON does the same as Plan.MarshalJSON.
func (s Story) MarshalJSON() ([]byte, error) {
	type bare Story
	return jsonv2.Marshal(bare(s), exact)
}

// UnmarshalJSON reads what MarshalJSON wrote. It does not validate as Read does.
func (p *Plan) UnmarshalJSON(data []byte) error {
	type bare Plan
	*p = Plan{}
	if err := jsonv2.Unmarshal(data, (*bare)(p), exact); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	return nil
}

// UnmarshalJSON does the same as Plan.UnmarshalJSON.
func (s *Story) UnmarshalJSON(data []byte) error {
	type bare Story
	*s = Story{}
	if err := jsonv2.Unmarshal(data, (*bare)(s), exact); err != nil {
		return fmt.Errorf("read story: %w", err)
	}
	return nil
}

// Merged is a plan after an agent edited it.
type Merged struct {
	Plan     Plan     // only ralph sets Passes in it
	Claimed  []string // stories the agent marked as passed, in the plan's order
	Undone   []string // the changes that were not allowed, in words
	Restored []string // stories with restored criteria
}

// Merge makes an agent's changes to a plan that are allowed: new stories, stories
// split into smaller ones, order, dependencies and notes. It restores a criterion that
// is in neither its story nor a new one. It refuses an invalid plan as a whole.
func Merge(kept, proposed Plan) Merged {
	m := merger{kept: kept, newCriteria: criteriaOfNewStories(kept, proposed)}
	m.keepHeader(proposed)
	for _, story := range proposed.UserStories {
		m.takeStory(story)
	}
	for _, story := range kept.UserStories {
		m.restoreStory(story)
	}
	if err := validate(m.result.Plan); err != nil {
		return Merged{Plan: kept, Claimed: m.result.Claimed, Undone: []string{"the plan was not valid: " + err.Error()}}
	}
	return m.result
}

type merger struct {
	kept        Plan
	newCriteria map[string]bool // criteria of stories that are new
	result      Merged
}

func criteriaOfNewStories(kept, proposed Plan) map[string]bool {
	found := map[string]bool{}
	for _, story := range proposed.UserStories {
		if _, known := kept.Find(story.ID); known {
			continue
		}
		for _, criterion := range story.AcceptanceCriteria {
			found[criterion] = true
		}
	}
	return found
}

// keepHeader undoes changes outside of the stories.
func (m *merger) keepHeader(proposed Plan) {
	m.result.Plan = m.kept
	m.result.Plan.UserStories = nil
	m.result.Plan.Extra = proposed.Extra
	for _, part := range []struct {
		name    string
		changed bool
	}{
		{"project", m.kept.Project != proposed.Project},
		{"branchName", m.kept.BranchName != proposed.BranchName},
		{"description of the plan", m.kept.Description != proposed.Description},
		{"verifyCommands", !slices.Equal(m.kept.VerifyCommands, proposed.VerifyCommands)},
	} {
		if part.changed {
			m.undo("%s", part.name)
		}
	}
}

// takeStory adds one story of the agent's plan with its allowed changes.
func (m *merger) takeStory(story Story) {
	old, known := m.kept.Find(story.ID)
	if story.Passes && !old.Passes {
		m.result.Claimed = append(m.result.Claimed, story.ID)
	}
	if story.Untested() != old.Untested() {
		m.undo("needsTest of %s", story.ID)
	}
	if story.MayChangeTests != old.MayChangeTests {
		m.undo("mayChangeTests of %s", story.ID)
	}
	story.Passes = old.Passes
	story.NeedsTest = old.NeedsTest
	story.MayChangeTests = old.MayChangeTests
	if known {
		story = m.restoreFields(old, story)
	}
	m.result.Plan.UserStories = append(m.result.Plan.UserStories, story)
}

// restoreFields undoes changes of an existing story that an agent may not make.
func (m *merger) restoreFields(old, story Story) Story {
	if story.Title != old.Title || story.Description != old.Description {
		m.undo("title and description of %s", story.ID)
		story.Title, story.Description = old.Title, old.Description
	}
	lost := m.lostCriteria(old, story.AcceptanceCriteria)
	for _, criterion := range lost {
		m.undo("criterion %q of %s", criterion, story.ID)
	}
	if len(lost) > 0 {
		m.result.Restored = append(m.result.Restored, story.ID)
		story.TestedBy = nil // its tests are listed by the position of the criterion
	}
	story.AcceptanceCriteria = append(lost, story.AcceptanceCriteria...)
	return story
}

// lostCriteria returns the criteria of old that are in neither the current ones nor a new story.
func (m *merger) lostCriteria(old Story, current []string) []string {
	return slices.DeleteFunc(slices.Clone(old.AcceptanceCriteria), func(criterion string) bool {
		return slices.Contains(current, criterion) || m.newCriteria[criterion]
	})
}

// restoreStory restores a removed story, unless new stories have all its criteria.
func (m *merger) restoreStory(old Story) {
	if _, ok := m.result.Plan.Find(old.ID); ok {
		return
	}
	if !old.Passes && len(m.lostCriteria(old, nil)) == 0 {
		return
	}
	m.undo("story %s", old.ID)
	m.result.Plan.UserStories = append(m.result.Plan.UserStories, old)
}

func (m *merger) undo(format string, args ...any) {
	m.result.Undone = append(m.result.Undone, fmt.Sprintf(format, args...))
}

func validate(p Plan) error {
	data, err := p.Marshal()
	if err != nil {
		return err
	}
	_, err = Read("prd.json", data)
	return err
}
