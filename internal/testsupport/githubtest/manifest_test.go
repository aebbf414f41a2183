package githubtest_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// drawing returns an App of acme that waits to be taken over, and its code.
func drawing(t *testing.T, s *githubtest.Server) (code string) {
	t.Helper()
	text := github.NewApp{Name: "drawn", Home: "https://example.com", Deliver: "https://example.com/webhook", Return: "https://example.com/back"}.Manifest()
	back, err := s.MakeApp("acme", "a state", text, shop)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil || u.Query().Get("state") != "a state" || !strings.HasPrefix(back, "https://example.com/back?") {
		t.Fatalf("its maker is sent to %s (%v)", back, err)
	}
	return u.Query().Get("code")
}

func manifestSteps(t *testing.T, s *githubtest.Server) []step {
	t.Helper()
	anonymous, code := client(t, s, ""), drawing(t, s)
	return []step{
		{"take over an App", 0, func() error { return last(anonymous.Apps.CompleteAppManifest(t.Context(), code)) }},
		{"take it over again", 404, func() error { return last(anonymous.Apps.CompleteAppManifest(t.Context(), code)) }},
	}
}

func TestNoAppIsMadeOfHalfAManifest(t *testing.T) {
	s := start(t)
	for _, text := range []string{"", "{}", `{"name":"x","url":"https://example.com"}`} {
		if back, err := s.MakeApp("acme", "", text); err == nil {
			t.Errorf("%q makes an App: %s", text, back)
		}
	}
}
