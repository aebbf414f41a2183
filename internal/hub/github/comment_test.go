package github_test

import (
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

const marker = "<!-- ralph:progress -->"

func is(err error, kind github.Kind) bool { return errors.Is(err, kind) }

func TestCommentsOfOthersAreNotOurs(t *testing.T) {
	server := stand(t, nil)
	server.AddToken("ghp_mias", githubtest.Token{Login: "mia", Kind: githubtest.Personal})
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: "rea", Body: marker})
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: actor, Body: "no marker"})

	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: actor, Body: "Somebody said: " + marker})
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: "mirror[bot]", Body: marker})
	if got, found, err := connect(t, access(server)).FindComment(t.Context(), 1, marker); found || err != nil {
		t.Errorf("a job takes %+v for its own (%v)", got, err)
	}
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: actor, Body: marker})
	as := access(server)
	as.Token = "ghp_mias"
	mia := connect(t, as)
	if got, found, err := mia.FindComment(t.Context(), 1, marker); found || err != nil {
		t.Errorf("mia's token takes %+v for its own (%v)", got, err)
	}
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: "mia", Body: marker})
	if _, found, err := mia.FindComment(t.Context(), 1, marker); !found || err != nil {
		t.Errorf("mia's token does not find its own comment (%v)", err)
	}
	if n := sent(server, "POST", "/api/graphql"); n != 2 {
		t.Errorf("GitHub was asked %d times who we are, want once for each client", n)
	}
}
