package attest_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/testsupport/sigstoretest"
	"github.com/ralph-loop/ralph/templates"
)

const workflow = "https://github.com/octo/greeter/.github/workflows/ralph.yml@refs/heads/main"

func published(tb testing.TB) (bundle []byte, root attest.Root) {
	tb.Helper()
	text, err := templates.Files.ReadFile("sigstore/trusted-root.json")
	if err != nil {
		tb.Fatal(err)
	}
	if root, err = attest.ReadRoot(text); err != nil {
		tb.Fatal(err)
	}
	if bundle, err = os.ReadFile("testdata/published.json"); err != nil {
		tb.Fatal(err)
	}
	return bundle, root
}

// What a job of sigstore-js signed on GitHub in 2023, with the public keys. Its certificate stands where bundles of
// version 0.3 have it.
func TestWhatWasPublishedHolds(t *testing.T) {
	bundle, root := published(t)
	want, err := attest.Expected("https://github.com/sigstore/sigstore-js/.github/workflows/release.yml@refs/heads/main", attest.GitHub, "")
	if err != nil {
		t.Fatal(err)
	}
	signed, err := attest.Verify(bundle, root, want)
	if err != nil || signed.At.Format(time.DateOnly) != "2023-08-18" || !strings.HasPrefix(signed.Statement.Digest("sha512"), "46d4e2f7") {
		t.Fatalf("Verify = %+v, %v", signed, err)
	}
	text := strings.NewReplacer(`"sig": "MEU`, `"sig": "MEQ`, `"sig":"MEU`, `"sig":"MEQ`, `"sig": "MEQ`, `"sig": "MEU`).Replace(string(bundle))
	if _, err := attest.Verify([]byte(text), root, want); text == string(bundle) || err == nil {
		t.Errorf("another signature: %v", err)
	}
	if _, err := attest.Verify(bundle, newGround(t).root, want); err == nil {
		t.Error("it holds with other keys")
	}
}

// groundOf is a stack with one honest bundle.
type groundOf struct {
	stack  *sigstoretest.Stack
	root   attest.Root
	signer attest.Signer
	said   []byte
	now    time.Time
}

func newGround(t *testing.T) groundOf {
	t.Helper()
	g := groundOf{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	var err error
	if g.signer, err = attest.Expected(workflow, attest.GitHub, ""); err != nil {
		t.Fatal(err)
	}
	if g.stack, err = sigstoretest.New(g.signer, func() time.Time { return g.now }); err != nil {
		t.Fatal(err)
	}
	if g.root, err = g.stack.Root(); err != nil {
		t.Fatal(err)
	}
	if g.said, err = attest.Of("type", map[string]string{"is": "so"}, attest.Subject{Name: "commit", Digest: map[string]string{"gitCommit": "c1"}}); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g groundOf) bundle(t *testing.T, signer attest.Signer, at time.Time) attest.Bundle {
	t.Helper()
	b, err := g.stack.Sign(g.said, signer, at)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (g groundOf) verify(t *testing.T, b attest.Bundle) (attest.Signed, error) {
	t.Helper()
	data, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return attest.Verify(data, g.root, g.signer)
}

func TestAJobsStatementHolds(t *testing.T) {
	g := newGround(t)
	signed, err := g.verify(t, g.bundle(t, g.signer, g.now.Add(time.Minute)))
	if err != nil || signed.Signer != g.signer || !signed.At.Equal(g.now.Add(time.Minute)) || signed.Statement.Digest("gitCommit") != "c1" || string(signed.Statement.Predicate) != `{"is":"so"}` {
		t.Errorf("Verify = %+v, %v", signed, err)
	}
}

// Each forgery is refused for its own reason.
func TestForgeriesAreRefused(t *testing.T) {
	g := newGround(t)
	other := newGround(t) // another sigstore, for the same job
	of := func(change func(*attest.Signer)) attest.Bundle {
		signer := g.signer
		change(&signer)
		return g.bundle(t, signer, g.now)
	}
	with := func(change func(b, another *attest.Bundle)) attest.Bundle {
		b, another := g.bundle(t, g.signer, g.now), g.bundle(t, g.signer, g.now)
		change(&b, &another)
		return b
	}
	for name, c := range map[string]struct {
		bundle attest.Bundle
		want   string
	}{
		"another workflow": {of(func(s *attest.Signer) { s.Identity = strings.Replace(s.Identity, "ralph.yml", "evil.yml", 1) }), "another identity"},
		"another branch":   {of(func(s *attest.Signer) { s.Identity = strings.Replace(s.Identity, "heads/main", "heads/evil", 1) }), "another identity"},
		"a longer ref":     {of(func(s *attest.Signer) { s.Identity += "2" }), "another identity"},
		"a branch whose # the certificate's URI loses": {of(func(s *attest.Signer) { s.Identity += "#" }), "another identity"},
		"called by another workflow": {of(func(s *attest.Signer) {
			s.Caller = strings.Replace(s.Caller, "ralph.yml@refs/heads/main", "evil.yml@refs/heads/evil", 1)
		}), "another caller"},
		"no caller":                    {of(func(s *attest.Signer) { s.Caller = "" }), "another caller"},
		"another issuer":               {of(func(s *attest.Signer) { s.Issuer = "https://accounts.example" }), "another issuer"},
		"no issuer":                    {of(func(s *attest.Signer) { s.Issuer = "" }), "another issuer"},
		"called by another repository": {of(func(s *attest.Signer) { s.Repository = "https://github.com/eve/greeter" }), "another repository"},
		"a predicate that was changed": {with(func(b, _ *attest.Bundle) {
			b.Envelope.Payload = []byte(strings.Replace(string(b.Envelope.Payload), "so", "no", 1))
		}), "of something else"},
		"a predicate that was changed, with a new entry": {with(func(b, _ *attest.Bundle) {
			b.Envelope.Payload = []byte(strings.Replace(string(b.Envelope.Payload), "so", "no", 1))
			entry, err := g.stack.Enter(b.Envelope, b.Material.Certificate.Bytes, g.now)
			if err != nil {
				t.Fatal(err)
			}
			b.Material.Entries[0] = entry
		}), "signature does not hold"},
		"another type of payload": {with(func(b, _ *attest.Bundle) { b.Envelope.PayloadType = "text/plain" }), "signature does not hold"},
		"not signed":              {with(func(b, _ *attest.Bundle) { b.Envelope.Signatures = nil }), "no entry of a log"},
		"signed twice": {with(func(b, another *attest.Bundle) {
			b.Envelope.Signatures = append(b.Envelope.Signatures, another.Envelope.Signatures...)
		}), "no entry of a log"},
		"no certificate":            {with(func(b, _ *attest.Bundle) { b.Material.Certificate = nil }), "no certificate"},
		"another certificate":       {with(func(b, another *attest.Bundle) { b.Material.Certificate = another.Material.Certificate }), "of something else"},
		"no time":                   {with(func(b, _ *attest.Bundle) { b.Material.Entries = nil }), "its time is not known"},
		"the time of another":       {with(func(b, another *attest.Bundle) { b.Material.Entries = another.Material.Entries }), "of something else"},
		"a time that was changed":   {with(func(b, _ *attest.Bundle) { b.Material.Entries[0].Time += 60 }), "no trusted log"},
		"no promise":                {with(func(b, _ *attest.Bundle) { b.Material.Entries[0].Promise = attest.Promise{} }), "no trusted log"},
		"after the certificate":     {g.bundle(t, g.signer, g.now.Add(11*time.Minute)), "expired"},
		"before the certificate":    {g.bundle(t, g.signer, g.now.Add(-time.Minute)), "expired or is not yet valid"},
		"before there was a root":   {g.bundle(t, g.signer, g.now.AddDate(-3, 0, 0)), "no trusted log"},
		"of another sigstore":       {other.bundle(t, g.signer, g.now), "no trusted log"},
		"of another authority":      {g.elsewhere(t, other), "signed by unknown authority"},
		"an entry of another kind":  {with(func(b, _ *attest.Bundle) { b.Material.Entries[0].Body = []byte(`{"kind":"rekord"}`) }), "not known here"},
		"an entry that is no entry": {with(func(b, _ *attest.Bundle) { b.Material.Entries[0].Body = []byte("{") }), "read the log's entry"},
		"nothing":                   {attest.Bundle{}, "no certificate"},
	} {
		signed, err := g.verify(t, c.bundle)
		if err == nil || !strings.Contains(err.Error(), c.want) || signed.Signer != (attest.Signer{}) {
			t.Errorf("%s: %+v, %v, want %q", name, signed, err, c.want)
		}
	}
}

// elsewhere returns a bundle whose certificate another authority made, with a promise of the trusted log.
func (g groundOf) elsewhere(t *testing.T, other groundOf) attest.Bundle {
	t.Helper()
	b := other.bundle(t, g.signer, g.now)
	entry, err := g.stack.Enter(b.Envelope, b.Material.Certificate.Bytes, g.now)
	if err != nil {
		t.Fatal(err)
	}
	b.Material.Entries[0] = entry
	return b
}

// A signer of whom nothing is wanted is refused: an empty want is no "any".
func TestAnEmptyIdentityIsRefused(t *testing.T) {
	g := newGround(t)
	signer := attest.Signer{Identity: workflow}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.stack.Certify(&key.PublicKey, signer); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(g.bundle(t, signer, g.now))
	if err != nil {
		t.Fatal(err)
	}
	if signed, err := attest.Verify(data, g.root, signer); err == nil {
		t.Errorf("Verify = %+v", signed)
	}
}

func TestExpected(t *testing.T) {
	for _, c := range []struct{ identity, repository, want string }{
		{workflow, "", "https://github.com/octo/greeter"},
		{"https://github.com/org/shared/.github/workflows/ralph.yml@refs/tags/v1", "octo/greeter", "https://github.com/octo/greeter"},
		{"ada@example.com", "", ""},
		{"https://github.com/octo/greeter", "", ""},
		{strings.TrimSuffix(workflow, "@refs/heads/main"), "", ""},
	} {
		got, err := attest.Expected(c.identity, attest.GitHub, c.repository)
		if got.Repository != c.want || (err == nil) != (c.want != "") {
			t.Errorf("Expected(%q, %q) = %+v, %v", c.identity, c.repository, got, err)
		}
	}
}

func TestReadRoot(t *testing.T) {
	g := newGround(t)
	text, err := json.Marshal(g.root)
	if err != nil {
		t.Fatal(err)
	}
	root, err := attest.ReadRoot(append(append(text, '\n'), text...))
	if err != nil || len(root.Logs) != 2 || len(root.Authorities) != 2 {
		t.Errorf("two in a file: %+v, %v", root, err)
	}
	for _, bad := range []string{"", "{}", "{", `{"tlogs":[{}]}`, `[]`} {
		if root, err := attest.ReadRoot([]byte(bad)); err == nil {
			t.Errorf("ReadRoot(%q) = %+v", bad, root)
		}
	}
}

// No other bundle holds than one with the signed statement of the published one.
func FuzzVerify(f *testing.F) {
	bundle, root := published(f)
	want, err := attest.Expected("https://github.com/sigstore/sigstore-js/.github/workflows/release.yml@refs/heads/main", attest.GitHub, "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bundle)
	for _, field := range []string{"certificate", "tlogEntries", "inclusionPromise", "payload", "sig", "rawBytes", "logIndex"} {
		f.Add(bytes.Replace(bundle, []byte(field), []byte(field+"x"), 1)) // without it
	}
	f.Add(bytes.ReplaceAll(bundle, []byte("=="), nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = attest.ReadRoot(data)
		if signed, err := attest.Verify(data, root, want); err == nil && !strings.HasPrefix(signed.Statement.Digest("sha512"), "46d4e2f7") {
			t.Errorf("it holds: %+v", signed)
		}
	})
}
