package server_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// issuer signs OIDC tokens of jobs, like GitHub.
type issuer struct {
	*httptest.Server
	t    *testing.T
	key  *rsa.PrivateKey
	down *atomic.Bool
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := issuer{t: t, key: key, down: new(atomic.Bool)}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.down.Load() || !strings.HasSuffix(r.URL.Path, "/.well-known/jwks") {
			http.NotFound(w, r)
			return
		}
		part := base64.RawURLEncoding
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []map[string]string{{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k",
			"n": part.EncodeToString(key.N.Bytes()), "e": part.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	}))
	t.Cleanup(i.Close)
	return i
}

type claims = map[string]any

// says returns a token with these claims, signed with key.
func (i issuer) says(key *rsa.PrivateKey, header, claims map[string]any) string {
	i.t.Helper()
	encode := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			i.t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	text := encode(header) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		i.t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// ours returns the claims of a job that the server has started.
func (i issuer) ours() claims {
	now := time.Now()
	return claims{
		"jti": rand.Text(), "iss": i.URL, "aud": "https://ralph.example", "sub": "repo:acme/shop:ref:refs/heads/main",
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"repository": shop, "ref": "refs/heads/main", "workflow_ref": shop + "/.github/workflows/ralph.yml@refs/heads/main",
	}
}

func (v *serving) trade(identity string) (int, string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.url+"/token", http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	if identity != "" {
		r.Header.Set("Authorization", "Bearer "+identity)
	}
	return v.send(r)
}

func (s *scene) trading(i issuer) *serving {
	with := s.server()
	with.Audience, with.Issuer = "https://ralph.example", i.URL
	return s.serve(with)
}

var rs256 = map[string]any{"alg": "RS256", "kid": "k", "typ": "JWT"}

func TestAJobTradesItsIdentityForATokenOfItsRepository(t *testing.T) {
	want := map[string]string{"actions": "write", "checks": "read", "contents": "write", "issues": "write", "metadata": "read", "pull_requests": "write"}
	tradesFor(t, githubtest.WriteAll(), with(want, "statuses", "read"))
	old := githubtest.WriteAll() // of an App that was made before ralph read statuses
	delete(old, "statuses")
	tradesFor(t, old, want)
}

func with(permissions map[string]string, name, level string) map[string]string {
	permissions = maps.Clone(permissions)
	permissions[name] = level
	return permissions
}

// tradesFor exchanges a job's token for one of an App with these permissions.
func tradesFor(t *testing.T, may, want map[string]string) {
	t.Helper()
	s, i := newScene(t), newIssuer(t)
	s.AddRepo(githubtest.Repo{Owner: "acme", Name: "payroll", Private: true})
	s.AddApp(githubtest.App{ID: 12, Slug: "ralph-loop", Owner: "acme", Key: &githubtest.Key().PublicKey, Installation: 345, Repos: []string{shop}, Permissions: may})
	v := s.trading(i)
	status, said := v.trade(i.says(i.key, rs256, i.ours()))
	var got struct{ Token string }
	if err := json.Unmarshal([]byte(said), &got); status != http.StatusOK || err != nil || got.Token == "" {
		t.Fatalf("it is answered with %d %s", status, said)
	}
	v.stop()
	if strings.Contains(v.log.String(), got.Token) {
		t.Errorf("the log holds the token:\n%s", v.log)
	}
	var asked struct {
		Repositories []string
		Permissions  map[string]string
	}
	for _, call := range s.Requests() {
		if call.Path == "/app/installations/345/access_tokens" {
			if err := json.Unmarshal([]byte(call.Body), &asked); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(asked.Repositories, []string{"shop"}) {
		t.Errorf("the token reaches %q", asked.Repositories)
	}
	if !maps.Equal(asked.Permissions, want) {
		t.Errorf("the token may do %v, want %v", asked.Permissions, want)
	}
}

func TestIdentitiesThatAreTradedForNothing(t *testing.T) {
	s, i := newScene(t), newIssuer(t)
	s.AddRepo(githubtest.Repo{Owner: "acme", Name: "other"})
	v := s.trading(i)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(time.Hour).Unix()
	for name, c := range map[string]struct {
		key    *rsa.PrivateKey
		header map[string]any
		but    claims
		status int
	}{
		"signed by another":    {key: other, status: 401},
		"signed with nothing":  {header: map[string]any{"alg": "none"}, status: 401},
		"signed with its key":  {header: map[string]any{"alg": "HS256", "kid": "k"}, status: 401},
		"for somebody else":    {but: claims{"aud": "https://github.com/acme"}, status: 401},
		"by another issuer":    {but: claims{"iss": "https://evil.example"}, status: 401},
		"expired":              {but: claims{"exp": time.Now().Add(-time.Hour).Unix()}, status: 401},
		"not valid yet":        {but: claims{"nbf": hour, "exp": hour + 300}, status: 401},
		"without a number":     {but: claims{"jti": ""}, status: 401},
		"without a repository": {but: claims{"repository": ""}, status: 403},
		"of another workflow":  {but: claims{"workflow_ref": shop + "/.github/workflows/test.yml@refs/heads/main"}, status: 403},
		"of a branch":          {but: claims{"workflow_ref": shop + "/.github/workflows/ralph.yml@refs/heads/mine", "ref": "refs/heads/mine"}, status: 403},
		"on a branch":          {but: claims{"ref": "refs/heads/mine"}, status: 403},
		"of a workflow called elsewhere": {but: claims{
			"workflow_ref": "acme/other/.github/workflows/ralph.yml@refs/heads/main",
		}, status: 403},
		"where the App is not": {but: claims{
			"repository": "acme/other", "workflow_ref": "acme/other/.github/workflows/ralph.yml@refs/heads/main",
		}, status: 403},
		"of a path": {but: claims{"repository": "acme/../../app"}, status: 403},
	} {
		t.Run(name, func(t *testing.T) {
			key, header, said := i.key, rs256, i.ours()
			maps.Copy(said, c.but)
			if c.key != nil {
				key = c.key
			}
			if c.header != nil {
				header = c.header
			}
			status, answer := v.trade(i.says(key, header, said))
			if status != c.status || bytes.Contains([]byte(answer), []byte("ghs_")) {
				t.Errorf("it is answered with %d %s, want %d", status, answer, c.status)
			}
		})
	}
	if status, _ := v.trade(""); status != http.StatusUnauthorized {
		t.Errorf("an unknown identity is answered with %d", status)
	}
}

// A job's OIDC token can be exchanged once, so a token in a log is useless.
func TestAnIdentityIsTradedOnce(t *testing.T) {
	const tokens = "/app/installations/345/access_tokens"
	s, i := newScene(t), newIssuer(t)
	s.Inject(githubtest.Fault{Method: "POST", Path: tokens, Status: http.StatusBadGateway})
	v := s.trading(i)
	says := i.says(i.key, rs256, i.ours())
	for _, want := range []int{http.StatusBadGateway, http.StatusOK, http.StatusUnauthorized} {
		if status, said := v.trade(says); status != want {
			t.Errorf("it is answered with %d %s, want %d", status, said, want)
		}
	}
	if n := s.asked("POST " + tokens); n != 2 {
		t.Errorf("GitHub was asked for %d tokens, want 2", n)
	}
}

// The server's answer has a timeout. A limit lasts longer, so the job is told at once, and can ask again.
func TestALimitIsNotWaitedForBeforeAJobIsAnswered(t *testing.T) {
	s, i := newScene(t), newIssuer(t)
	limit := githubtest.SecondaryLimit(time.Second)
	limit.Path = "/app/installations/345/access_tokens"
	s.Inject(limit)
	with := s.server()
	with.Audience, with.Issuer, with.Access.Retry = "https://ralph.example", i.URL, &github.RetryPolicy{Tries: 2, MaxWait: time.Hour}
	v, says := s.serve(with), i.says(i.key, rs256, i.ours())
	for _, want := range []int{http.StatusBadGateway, http.StatusOK} {
		if status, said := v.trade(says); status != want {
			t.Errorf("it is answered with %d %s, want %d", status, said, want)
		}
	}
}

// If GitHub's keys cannot be read, they are read again later.
func TestJobsAreAcceptedOnceGitHubsKeysAreRead(t *testing.T) {
	s, i := newScene(t), newIssuer(t)
	v := s.trading(i)
	i.down.Store(true)
	says := i.says(i.key, rs256, i.ours())
	if status, said := v.trade(says); status != http.StatusBadGateway {
		t.Errorf("it is answered with %d %s", status, said)
	}
	i.down.Store(false)
	if status, said := v.trade(says); status != http.StatusOK {
		t.Errorf("later it is answered with %d %s", status, said)
	}
	v.stop()
	if !strings.Contains(v.log.String(), `"level":"WARN","msg":"cannot verify an OIDC token"`) {
		t.Errorf("the log does not tell:\n%s", v.log)
	}
}

func TestASuspendedAppGivesNoToken(t *testing.T) {
	s, i := newScene(t), newIssuer(t)
	s.Inject(githubtest.Fault{
		Method: "POST", Path: "/app/installations/345/access_tokens", Status: http.StatusForbidden, Body: `{"message":"This installation has been suspended"}`,
	})
	if status, said := s.trading(i).trade(i.says(i.key, rs256, i.ours())); status != http.StatusForbidden {
		t.Errorf("it is answered with %d %s", status, said)
	}
}

func TestAnIssuerMayEndWithASlash(t *testing.T) {
	s, i := newScene(t), newIssuer(t)
	with := s.server()
	with.Audience, with.Issuer = "https://ralph.example", i.URL+"/"
	if status, said := s.serve(with).trade(i.says(i.key, rs256, i.ours())); status != http.StatusOK {
		t.Errorf("it is answered with %d %s", status, said)
	}
}

func TestNothingIsTradedUnlessItIsAskedFor(t *testing.T) {
	s, i := newScene(t), newIssuer(t)
	if status, _ := s.serve(s.server()).trade(i.says(i.key, rs256, i.ours())); status != http.StatusNotFound {
		t.Errorf("it is answered with %d", status)
	}
}

// The server of a company's own GitHub gives no token to a job of github.com, where anyone
// can own a repository of the same name.
func TestJobsOfAnotherGitHubGetNoToken(t *testing.T) {
	s, i := newScene(t), newIssuer(t)
	with := s.server()
	with.Access.BaseURL, with.Audience = i.URL+"/api/v3", "https://ralph.example"
	v := s.serve(with)
	for issuer, want := range map[string]int{
		"https://token.actions.githubusercontent.com": http.StatusUnauthorized,
		i.URL:                      http.StatusUnauthorized,
		i.URL + "/_services/token": http.StatusForbidden, // there is no such repository
	} {
		says := i.ours()
		says["iss"] = issuer
		if status, said := v.trade(i.says(i.key, rs256, says)); status != want {
			t.Errorf("of %s: %d %s, want %d", issuer, status, said, want)
		}
	}
}
