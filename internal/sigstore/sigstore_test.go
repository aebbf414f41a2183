package sigstore_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/sigstore"
	"github.com/ralph-loop/ralph/internal/testsupport/sigstoretest"
)

func stack(t *testing.T) (*sigstoretest.Stack, sigstore.Signer, *httptest.Server) {
	t.Helper()
	job, err := attest.Expected("https://github.com/octo/greeter/.github/workflows/ralph.yml@refs/heads/main", attest.GitHub, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := sigstoretest.New(job, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, sigstore.Signer{TokenURL: server.URL + "/token?v=1", Token: sigstoretest.Bearer, Fulcio: server.URL, Rekor: server.URL}, server
}

func TestSignedIsVerified(t *testing.T) {
	s, signer, _ := stack(t)
	said, err := attest.Of("type", "so", attest.Subject{Name: "commit", Digest: map[string]string{"gitCommit": "c1"}})
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := signer.Sign(t.Context(), said)
	if err != nil {
		t.Fatal(err)
	}
	root, err := s.Root()
	if err != nil {
		t.Fatal(err)
	}
	who, err := signer.Who(t.Context(), "https://github.com")
	if err != nil || who != s.Job {
		t.Errorf("Who = %+v, %v", who, err)
	}
	signed, err := attest.Verify(bundle.Bundle, root, who)
	if err != nil || signed.Statement.Digest("gitCommit") != "c1" {
		t.Errorf("Verify = %+v, %v", signed, err)
	}
}

// The public log would name a repository that is not public: its token is not even used.
func TestPrivateIsNotSigned(t *testing.T) {
	s, own, _ := stack(t)
	s.Visibility = "private"
	for _, services := range [][2]string{
		{sigstore.PublicFulcio, sigstore.PublicRekor},
		{sigstore.PublicFulcio, own.Rekor},
		{own.Fulcio, sigstore.PublicRekor},
		{sigstore.PublicFulcio + "/", own.Rekor},
		{own.Fulcio, "https://REKOR.sigstore.dev.:443/"},
	} {
		signer := own
		signer.Fulcio, signer.Rekor = services[0], services[1]
		if bundle, err := signer.Sign(t.Context(), []byte("{}")); !errors.Is(err, sigstore.ErrPrivate) {
			t.Errorf("with %q: Sign = %v, %v", services, bundle, err)
		}
	}
	if _, err := own.Sign(t.Context(), []byte("{}")); err != nil {
		t.Errorf("with its own services: %v", err)
	}
}

// A job's token goes nowhere but to the services that are named.
func TestRedirectsAreNotFollowed(t *testing.T) {
	_, signer, server := stack(t)
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(elsewhere.Close)
	leading := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(leading.Close)
	for _, lead := range []func(*sigstore.Signer){
		func(s *sigstore.Signer) { s.TokenURL = leading.URL },
		func(s *sigstore.Signer) { s.Fulcio = leading.URL },
		func(s *sigstore.Signer) { s.Rekor = leading.URL },
		func(s *sigstore.Signer) { s.Token = "another" },
		func(s *sigstore.Signer) { s.Fulcio = server.URL + "/nowhere" },
	} {
		astray := signer
		lead(&astray)
		if bundle, err := astray.Sign(t.Context(), []byte("{}")); err == nil || asked > 0 {
			t.Errorf("Sign = %v, %v, asked elsewhere %d times", bundle, err, asked)
		}
	}
}
