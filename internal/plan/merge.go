package plan

import (
	"fmt"
	"slices"
	"strings"
)

// SourceUpdate is for a task that only asks to merge the base branch.
const SourceUpdate Source = "update"

// updatePlan is the plan of such a task. The program does the work, so its one story passes.
func (t Task) updatePlan() Plan {
	return Plan{Project: oneLine(t.Repo), Description: oneLine(normalize(t.Title)), UserStories: []Story{{
		ID: "US-001", Title: "update the branch", AcceptanceCriteria: []string{"The branch holds the newest commit of its base branch."},
		Priority: 1, Passes: true, Notes: "The program merges the base branch.",
	}}}
}

// WithMerge adds a story for a merge that the agent has to finish, or replaces the story id.
func (p Plan) WithMerge(id, base, branch string, files []string) (Plan, string) {
	names := make([]string, 0, len(files))
	for _, name := range files {
		names = append(names, "`"+strings.ReplaceAll(oneLine(name), "`", "'")+"`")
	}
	story := Story{
		ID: id, Title: oneLine(fmt.Sprintf("merge %s into %s", base, branch)), NeedsTest: new(false),
		Description: "The program has begun this merge and committed it. These files hold conflict markers of both sides: " + strings.Join(names, ", ") + ". " +
			"Resolve each so that it keeps what both sides are for, and commit. Do not merge again, and do not rewrite history: the program makes the merge commit.",
		AcceptanceCriteria: []string{"No file holds conflict markers.", "What each side changed still works."},
	}
	p.UserStories = slices.Clone(p.UserStories)
	for _, other := range p.UserStories {
		story.Priority = max(story.Priority, other.Priority+1)
	}
	if at := slices.IndexFunc(p.UserStories, func(s Story) bool { return id != "" && s.ID == id }); at >= 0 {
		p.UserStories[at] = story
		return p, id
	}
	p.UserStories = append(p.UserStories, story)
	numberStories(p.UserStories)
	return p, p.UserStories[len(p.UserStories)-1].ID
}
