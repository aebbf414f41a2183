package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

type identities struct {
	verifier *oidc.IDTokenVerifier
	traded   *memory // tokens that were used, so that using one again makes no call to GitHub
}

func (s Server) identities(ctx context.Context) (*identities, error) {
	issuer := s.Issuer
	if issuer == "" {
		var err error
		if issuer, err = github.Issuer(s.Access.BaseURL); err != nil {
			return nil, err
		}
	}
	issuer = strings.TrimRight(issuer, "/") // as it stands in an identity
	// Keys are fetched when they are first needed.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), &http.Client{Transport: s.Access.HTTP, Timeout: s.Limits.Slow})
	keys := oidc.NewRemoteKeySet(ctx, issuer+"/.well-known/jwks")
	return &identities{oidc.NewVerifier(issuer, keys, &oidc.Config{ClientID: s.Audience, Now: s.Now}), newMemory(remembered)}, nil
}

// job is the part of a job's identity that is checked.
type job struct {
	ID         string `json:"jti"` // of what it says
	Repository string `json:"repository"`
	Workflow   string `json:"workflow_ref"`
	Ref        string `json:"ref"`
}

// keyless begins what go-oidc says, in words alone, where it cannot get the keys.
const keyless = "failed to verify signature: fetching keys"

func (i *identities) read(ctx context.Context, said string) (job, error) {
	var j job
	token, err := i.verifier.Verify(ctx, said)
	if err != nil && strings.HasPrefix(err.Error(), keyless) {
		return j, fmt.Errorf("%w: %w", github.Unavailable, err)
	}
	if err != nil {
		return j, err
	}
	if err := token.Claims(&j); err != nil {
		return j, err
	}
	if j.ID == "" || !i.traded.take(j.ID) {
		return j, errShown
	}
	return j, nil
}

var errShown = errors.New("the OIDC token has no ID, or was used before")

var errNotOurs = errors.New("the job does not belong to ralph's workflow on the default branch")

// token trades a job's identity for a token of its repository, so that no repository holds the App's
// key.
func (d *service) token(w http.ResponseWriter, r *http.Request) {
	said, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer {
		answer(w, http.StatusUnauthorized, "send the job's OIDC token: Authorization: Bearer")
		return
	}
	j, err := d.jobs.read(r.Context(), said)
	if errors.Is(err, github.Unavailable) {
		d.Log.Warn("cannot read an OIDC token", "error", err.Error())
		answer(w, http.StatusBadGateway, "cannot get GitHub's keys now: try again")
		return
	}
	if err != nil {
		d.Log.Debug("refused an OIDC token", "error", err.Error())
		answer(w, http.StatusUnauthorized, "the OIDC token is not from a GitHub job, not for this server, or has expired")
		return
	}
	token, err := d.trade(r.Context(), j)
	log := d.Log.With("repo", j.Repository, "workflow", j.Workflow, "ref", j.Ref)
	switch {
	case errors.Is(err, errNotOurs), errors.Is(err, github.NotFound), errors.Is(err, github.Refused), errors.Is(err, github.Forbidden):
		log.Warn("refused a token", "error", err.Error())
		answer(w, http.StatusForbidden, "no token for this job")
	case err != nil:
		d.jobs.traded.forget(j.ID)
		log.Warn("could not get a token", "error", err.Error())
		answer(w, http.StatusBadGateway, "GitHub gives no token now: try again")
	default:
		log.Info("gave a token")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(map[string]string{"token": token}) // who has hung up need not know
	}
}

// trade refuses other branches: anybody who can push may have changed their workflow.
func (d *service) trade(ctx context.Context, j job) (string, error) {
	owner, name, _ := strings.Cut(j.Repository, "/")
	access := d.Access
	app := *access.App
	app.Least = true
	access.Owner, access.Repo, access.App = owner, name, &app
	client, err := github.Connect(access)
	if err != nil {
		return "", errors.Join(errNotOurs, err)
	}
	whole, err := client.Complete(ctx, trigger.Trigger{})
	if err != nil {
		return "", err
	}
	branch := "refs/heads/" + whole.Repo.DefaultBranch
	if j.Ref != branch || j.Workflow != j.Repository+"/.github/workflows/"+d.Workflow+"@"+branch {
		return "", errNotOurs
	}
	return client.GitToken(ctx)
}
