package github_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
)

// Only what git's server says of the token is held against the token: what is
// wrong with the way there is no reason to begin nothing.
func TestMayPushIsUnknownWithoutAnAnswer(t *testing.T) {
	for status, kind := range map[int]error{
		200: nil, 401: github.Forbidden, 403: github.Forbidden, 404: github.Forbidden,
		407: github.Unavailable, 429: github.Unavailable, 500: github.Unavailable, 503: github.Unavailable,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, token, _ := r.BasicAuth(); user != "x-access-token" || token != "ghs_1" || r.URL.String() != "/acme/shop.git/info/refs?service=git-receive-pack" {
				t.Errorf("asked for %s as %s", r.URL, user)
			}
			w.WriteHeader(status)
		}))
		client, err := github.Connect(github.Access{Owner: "acme", Repo: "shop", BaseURL: server.URL, Token: "ghs_1", Retry: &github.RetryPolicy{Tries: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.MayPush(t.Context(), server.URL+"/acme/shop.git"); !errors.Is(err, kind) {
			t.Errorf("%d is %v, want %v", status, err, kind)
		}
		server.Close()
	}
}
