package github_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

const marker = "<!-- ralph:progress -->"

func is(err error, kind github.Kind) bool { return errors.Is(err, kind) }

func TestOurCommentIsFoundOnTheThirdPage(t *testing.T) {
	server := stand(t, nil)
	for i := range 230 {
		server.AddComment(shop, githubtest.Comment{Issue: 1, Author: "rea", Body: fmt.Sprintf("me too %d", i)})
	}
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: "rea", Body: "I am ralph " + marker})
	want := server.AddComment(shop, githubtest.Comment{Issue: 1, Author: actor, Body: marker + " first"})
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: actor, Body: marker + " second"})

	got, found, err := connect(t, access(server)).FindComment(t.Context(), 1, marker)
	if err != nil || !found || got.ID != want.ID || got.URL == "" {
		t.Errorf("FindComment = %+v, %t, %v, want comment %d", got, found, err, want.ID)
	}
	if n := sent(server, "GET", "/repos/acme/shop/issues/1/comments"); n != 3 {
		t.Errorf("%d pages were read, want 3", n)
	}
}

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

func TestACommentIsWrittenAndEdited(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	made, err := client.CreateComment(t.Context(), 1, marker+" working")
	if err != nil {
		t.Fatal(err)
	}
	edited, err := client.EditComment(t.Context(), 1, made.ID, marker+" done")
	if err != nil || edited.ID != made.ID || edited.Body != marker+" done" {
		t.Errorf("EditComment = %+v, %v", edited, err)
	}
	if all := server.Comments(shop, 1); len(all) != 1 || all[0].Body != marker+" done" {
		t.Errorf("the issue has %+v", all)
	}
}

func TestNoCommentIsWrittenTwice(t *testing.T) {
	server := stand(t, nil)
	server.Inject(githubtest.Fault{Method: "POST", Done: true, CutAfter: 10})
	client := connect(t, access(server))
	if _, err := client.CreateComment(t.Context(), 1, marker); !is(err, github.Unavailable) {
		t.Errorf("CreateComment: %v, want not available", err)
	}
	if n := len(server.Comments(shop, 1)); n != 1 {
		t.Errorf("there are %d comments, want the one whose answer was cut", n)
	}
	if _, found, err := client.FindComment(t.Context(), 1, marker); !found || err != nil {
		t.Errorf("it is not found again: %v", err)
	}
}
