package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
)

type jobVerifier struct {
	verifier *oidc.IDTokenVerifier
	used     *memory // ids of OIDC tokens
}

func (s Server) newJobVerifier(ctx context.Context) (*jobVerifier, error) {
	issuer := s.Issuer
	if issuer == "" {
		var err error
		if issuer, err = github.Issuer(s.Access.BaseURL); err != nil {
			return nil, err
		}
	}
	issuer = strings.TrimRight(issuer, "/") // as in the tokens
	// Keys are fetched when they are first needed.
	client := &http.Client{Transport: s.Access.HTTP, Timeout: s.Limits.Request}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), client)
	keys := oidc.NewRemoteKeySet(ctx, issuer+"/.well-known/jwks")
	return &jobVerifier{
		verifier: oidc.NewVerifier(issuer, keys, &oidc.Config{ClientID: s.Audience, Now: s.Now}),
		used:     newMemory(memorySize),
	}, nil
}

// job has the checked claims of a job's OIDC token.
type job struct {
	ID         string `json:"jti"` // of the token
	Repository string `json:"repository"`
	Workflow   string `json:"workflow_ref"`
	Ref        string `json:"ref"`
}

// keysError begins go-oidc's error if it cannot get the keys. That error has no type.
const keysError = "failed to verify signature: fetching keys"

func (v *jobVerifier) verify(ctx context.Context, text string) (job, error) {
	var j job
	token, err := v.verifier.Verify(ctx, text)
	if err != nil && strings.HasPrefix(err.Error(), keysError) {
		return j, fmt.Errorf("%w: %w", github.Unavailable, err)
	}
	if err != nil {
		return j, err
	}
	if err := token.Claims(&j); err != nil {
		return j, err
	}
	if j.ID == "" || !v.used.add(j.ID) {
		return j, errUsed
	}
	return j, nil
}

var errUsed = errors.New("the OIDC token has no ID, or was used before")

var errNotOurs = errors.New("the job does not belong to ralph's workflow on the default branch")

// token exchanges a job's OIDC token for a token of its repository, so that no repository needs the
// App's key.
func (d *service) token(w http.ResponseWriter, r *http.Request) {
	text, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		answer(w, http.StatusUnauthorized, "send the job's OIDC token: Authorization: Bearer")
		return
	}
	j, err := d.jobs.verify(r.Context(), text)
	if errors.Is(err, github.Unavailable) {
		d.Log.Warn("cannot verify an OIDC token", "error", err.Error())
		answer(w, http.StatusBadGateway, "cannot get GitHub's keys: try again later")
		return
	}
	if err != nil {
		d.Log.Debug("refused an OIDC token", "error", err.Error())
		answer(w, http.StatusUnauthorized,
			"the OIDC token is not from a GitHub job, not for this server, or has expired")
		return
	}
	token, err := d.exchange(r.Context(), j)
	log := d.Log.With("repo", j.Repository, "workflow", j.Workflow, "ref", j.Ref)
	switch {
	case errors.Is(err, errNotOurs),
		errors.Is(err, github.NotFound),
		errors.Is(err, github.Refused),
		errors.Is(err, github.Forbidden):
		log.Warn("refused a token", "error", err.Error())
		answer(w, http.StatusForbidden, "no token for this job")
	case err != nil:
		d.jobs.used.forget(j.ID)
		log.Warn("cannot get a token", "error", err.Error())
		answer(w, http.StatusBadGateway, "cannot get a token from GitHub: try again later")
	default:
		log.Info("issued a token")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(map[string]string{"token": token}) // the client may be gone
	}
}

// exchange refuses other branches than the default: everyone with write access can change their workflows.
func (d *service) exchange(ctx context.Context, j job) (string, error) {
	owner, name, _ := strings.Cut(j.Repository, "/")
	access := d.accessTo(owner, name)
	app := *access.App
	app.Least = true
	access.App = &app
	client, err := github.Connect(access)
	if err != nil {
		return "", errors.Join(errNotOurs, err)
	}
	complete, err := client.Complete(ctx, trigger.Trigger{})
	if err != nil {
		return "", err
	}
	branch := "refs/heads/" + complete.Repo.DefaultBranch
	if j.Ref != branch || j.Workflow != j.Repository+"/.github/workflows/"+d.Workflow+"@"+branch {
		return "", errNotOurs
	}
	token, err := client.GitToken(ctx)
	return string(token), err
}
