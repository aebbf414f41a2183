package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/github"
)

// onGitHub looks at a repository as whoever the token belongs to.
func (c doctorCommand) onGitHub(ctx context.Context, w world, all *found) error {
	at, err := w.repository(c.Repo)
	if err != nil {
		return err
	}
	client, err := github.Connect(github.Access{Owner: at.owner, Repo: at.name, BaseURL: w.Getenv("GITHUB_API_URL"), Token: at.token, Pace: w.pace})
	if err != nil {
		return err
	}
	all.GitHub = doctor.GitHub{Client: client, Clone: at.clone(), Branch: c.Branch}.Look(ctx)
	return nil
}
