package githubtest

import (
	"fmt"
	"path/filepath"
)

// Run is a workflow run, as far as a job can see it.
type Run struct {
	Repo      string
	Event     string // the event's name, such as issue_comment
	EventPath string // the file with its payload
	Actor     string
	ID        int64  // 0 means 1
	Workspace string // the checkout; empty leaves it out
	// Temp is where the runner's command files are, which must exist; empty
	// leaves them out.
	Temp string
}

// Environment returns what the runner sets for a job of the run.
func (s *Server) Environment(run Run) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(run.Repo)
	actor, owner, sha := s.user(run.Actor), s.user(r.Owner), branch(r, r.DefaultBranch)
	ref := "refs/heads/" + r.DefaultBranch
	env := []string{
		"CI=true", "GITHUB_ACTIONS=true", "GITHUB_SERVER_URL=" + s.URL, "GITHUB_API_URL=" + s.api(""),
		"GITHUB_GRAPHQL_URL=" + s.URL + "/api/graphql", "GITHUB_REPOSITORY=" + r.name(),
		fmt.Sprintf("GITHUB_REPOSITORY_ID=%d", r.id), "GITHUB_REPOSITORY_OWNER=" + r.Owner,
		fmt.Sprintf("GITHUB_REPOSITORY_OWNER_ID=%d", owner.ID), "GITHUB_EVENT_NAME=" + run.Event,
		"GITHUB_EVENT_PATH=" + run.EventPath, fmt.Sprintf("GITHUB_RUN_ID=%d", max(run.ID, 1)), "GITHUB_RUN_NUMBER=1",
		"GITHUB_RUN_ATTEMPT=1", "GITHUB_ACTOR=" + actor.Login,
		fmt.Sprintf("GITHUB_ACTOR_ID=%d", actor.ID), "GITHUB_TRIGGERING_ACTOR=" + actor.Login, "GITHUB_WORKFLOW=ralph",
		"GITHUB_WORKFLOW_REF=" + r.name() + "/.github/workflows/ralph.yml@" + ref, "GITHUB_WORKFLOW_SHA=" + sha,
		"GITHUB_JOB=ralph", "GITHUB_ACTION=__self", "GITHUB_REF=" + ref, "GITHUB_REF_NAME=" + r.DefaultBranch,
		"GITHUB_REF_TYPE=branch", "GITHUB_REF_PROTECTED=false", "GITHUB_SHA=" + sha, "GITHUB_HEAD_REF=",
		"GITHUB_BASE_REF=", "GITHUB_RETENTION_DAYS=90", "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "RUNNER_NAME=stand-in",
		"RUNNER_ENVIRONMENT=github-hosted",
	}
	if run.Workspace != "" {
		env = append(env, "GITHUB_WORKSPACE="+run.Workspace)
	}
	if run.Temp != "" {
		env = append(env, "RUNNER_TEMP="+run.Temp)
		for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
			env = append(env, name+"="+filepath.Join(run.Temp, name))
		}
	}
	return env
}
