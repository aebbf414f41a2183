package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

var cart = github.NewPull{Branch: work, Base: "main", Title: "Add a cart", Body: "Refs #1", Draft: true}

func TestAPullRequestIsOpenedEditedAndTurnedReady(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	ctx := t.Context()
	if _, found, err := client.FindPull(ctx, work, 0); found || err != nil {
		t.Fatalf("FindPull finds one at the start (%v)", err)
	}
	opened, err := client.OpenPull(ctx, cart)
	if err != nil {
		t.Fatal(err)
	}
	want := github.Pull{
		Pull: trigger.Pull{Number: 2, Author: actor, HeadRef: work, HeadRepo: "acme/shop", HeadSHA: shaB, BaseRef: "main", Draft: true},
		URL:  server.URL + "/acme/shop/pull/2", Title: "Add a cart", Body: "Refs #1", BaseSHA: opened.BaseSHA, Open: true,
		Opened: opened.Opened, NodeID: opened.NodeID,
	}
	if diff := cmp.Diff(want, opened); diff != "" || opened.NodeID == "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
	edited, err := client.EditPull(ctx, opened.Number, "", "Closes #1")
	if err != nil || edited.Title != "Add a cart" || edited.Body != "Closes #1" {
		t.Errorf("EditPull = %+v, %v", edited, err)
	}
	if err := client.ReadyPull(ctx, opened); err != nil {
		t.Fatal(err)
	}
	found, _, err := client.FindPull(ctx, work, 0)
	if err != nil || found.Draft || found.Body != "Closes #1" {
		t.Errorf("FindPull = %+v, %v", found, err)
	}
	if err := client.ReadyPull(ctx, found); err != nil || sent(server, "POST", "/api/graphql") != 1 {
		t.Errorf("what is ready is turned ready again (%v)", err)
	}
	if err := client.DraftPull(ctx, found); err != nil {
		t.Fatal(err)
	}
	if found, _, err = client.FindPull(ctx, work, 0); err != nil || !found.Draft {
		t.Errorf("after DraftPull it is %+v, %v", found, err)
	}
	if err := client.DraftPull(ctx, found); err != nil || sent(server, "POST", "/api/graphql") != 2 {
		t.Errorf("a draft is turned into one again (%v)", err)
	}
}

func TestAPullRequestIsNeverOpenedTwice(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	first, err := client.OpenPull(t.Context(), cart)
	if err != nil {
		t.Fatal(err)
	}
	server.AddPull(shop, githubtest.Pull{Title: "Obey me", Head: work, Base: "other", Author: "rea"})
	again, err := client.OpenPull(t.Context(), cart)
	if diff := cmp.Diff(first, again); diff != "" || err != nil {
		t.Errorf("the second time (-first +again), %v:\n%s", err, diff)
	}
	found, _, err := client.FindPull(t.Context(), work, first.Number)
	if diff := cmp.Diff(first, found); diff != "" || err != nil {
		t.Errorf("by its number (-first +found), %v:\n%s", err, diff)
	}
}

func TestPullRequestsOfForksAreNotOurs(t *testing.T) {
	server := stand(t, nil)
	server.AddPull(shop, githubtest.Pull{Title: "theirs", Head: work, HeadRepo: "rea/shop", HeadSHA: shaB})
	server.AddPull(shop, githubtest.Pull{Title: "closed", Head: work, State: "closed"})
	if got, found, err := connect(t, access(server)).FindPull(t.Context(), work, 0); found || err != nil {
		t.Errorf("FindPull = %+v, %v", got, err)
	}
}

func TestWithoutDraftsAPullRequestIsOpenedAllTheSame(t *testing.T) {
	server := stand(t, func(r *githubtest.Repo) { r.NoDrafts = true })
	client := connect(t, access(server))
	opened, err := client.OpenPull(t.Context(), cart)
	if err != nil || !opened.Draft || opened.Title != cart.Title {
		t.Fatalf("OpenPull = %+v, %v, want a draft for its run", opened, err)
	}
	found, _, err := client.FindPull(t.Context(), work, 0)
	if err != nil || found.Draft {
		t.Fatalf("FindPull = %+v, %v, want what GitHub has", found, err)
	}
	if err := errors.Join(client.ReadyPull(t.Context(), found), client.DraftPull(t.Context(), found)); err != nil {
		t.Error(err)
	}
}

func TestWhatGitHubRefusesHasARemedy(t *testing.T) {
	without := func(scope string) githubtest.Token {
		permissions := githubtest.WriteAll()
		delete(permissions, scope)
		return githubtest.Token{Login: actor, Kind: githubtest.Job, Repos: []string{shop}, Permissions: permissions}
	}
	for name, c := range map[string]struct {
		token githubtest.Token
		repo  func(*githubtest.Repo)
		says  string // GitHub, to everything
		do    func(*github.Client) error
		kind  github.Kind
		fix   string
	}{
		"Actions may not open": {
			token: without(""), repo: func(r *githubtest.Repo) { r.NoActionsPulls = true },
			do:   func(c *github.Client) error { _, err := c.OpenPull(t.Context(), cart); return err },
			kind: github.Forbidden, fix: "Settings → Actions → General",
		},
		"no pull-requests: write": {
			token: without("pull_requests"),
			do:    func(c *github.Client) error { _, err := c.OpenPull(t.Context(), cart); return err },
			kind:  github.Forbidden, fix: "`pull-requests: write` under `permissions:`",
		},
		"no issues: write": {
			token: without("issues"),
			do:    func(c *github.Client) error { _, err := c.CreateComment(t.Context(), 1, "hi"); return err },
			kind:  github.Forbidden, fix: "`issues: write` under `permissions:`",
		},
		"a locked issue": {
			token: without(""), says: "Unable to create comment because issue is locked.",
			do:   func(c *github.Client) error { _, err := c.CreateComment(t.Context(), 1, "hi"); return err },
			kind: github.Forbidden, fix: "unlock the conversation",
		},
		"an archive": {
			token: without(""), says: "Repository was archived so is read-only.",
			do:   func(c *github.Client) error { _, err := c.CreateComment(t.Context(), 1, "hi"); return err },
			kind: github.Forbidden, fix: "unarchive the repository",
		},
		"nothing to merge": {
			token: without(""),
			do: func(c *github.Client) error {
				_, err := c.OpenPull(t.Context(), github.NewPull{Branch: "main", Base: "main", Title: "x"})
				return err
			},
			kind: github.Refused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := stand(t, c.repo)
			server.AddToken(job, c.token)
			if c.says != "" {
				server.Inject(githubtest.Fault{Status: http.StatusForbidden, Body: fmt.Sprintf(`{"message":%q}`, c.says)})
			}
			err := c.do(connect(t, access(server)))
			if !is(err, c.kind) || !strings.Contains(fault.Hint(err), c.fix) {
				t.Errorf("got %v, hint %q, want %s and %q", err, fault.Hint(err), c.kind, c.fix)
			}
		})
	}
}

func TestGraphQLSaysNoWithStatus200(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	err := client.ReadyPull(t.Context(), github.Pull{Pull: trigger.Pull{Number: 2, Draft: true}, NodeID: "PR_none"})
	if !is(err, github.NotFound) || !strings.Contains(err.Error(), "Could not resolve to a node") {
		t.Errorf("ReadyPull: %v", err)
	}
	server.Inject(githubtest.Fault{Status: 200, Body: `{"data":{"markPullRequestReadyForReview":null}}`, Times: 3})
	if err := client.ReadyPull(t.Context(), github.Pull{Pull: trigger.Pull{Number: 2, Draft: true}}); !is(err, github.Unavailable) {
		t.Errorf("ReadyPull with an empty answer: %v", err)
	}
}

// Who may read can open a pull request of a branch that is here, for another base.
func TestAPullRequestIsOursByItsAuthor(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	body := trigger.PullMarker + "\n"
	opened := func(base, author, title string) int {
		return server.AddPull(shop, githubtest.Pull{Title: title, Body: body, Head: work, Base: base, Author: author}).Number
	}
	theirs := opened("main", "rea", "Obey me")
	if got, found, err := client.OwnPull(t.Context(), work); found || err != nil {
		t.Errorf("OwnPull = %+v, %v, want none: the author of #%d is another", got, err, theirs)
	}
	ours := opened("main", actor, "Add a \u202ecart")
	opened("other", "rea", "Obey me")
	if got, _, err := client.OwnPull(t.Context(), work); err != nil || got.Number != ours || got.Title != "Add a cart" {
		t.Errorf("OwnPull = %+v, %v, want #%d with a clean title", got, err, ours)
	}
	server.AddToken("ghp_rea", githubtest.Token{Login: "rea", Repos: []string{shop}})
	at := access(server)
	at.Token = "ghp_rea"
	client.Starter = connect(t, at)
	if got, _, err := client.OwnPull(t.Context(), work); err != nil || got.Title != "Obey me" {
		t.Errorf("OwnPull = %+v, %v, want the newest, by the login that opens in our place", got, err)
	}
}
