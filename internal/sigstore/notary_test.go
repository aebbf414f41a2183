package sigstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/sigstore"
	"github.com/ralph-loop/ralph/internal/testsupport/sigstoretest"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// services are those of a stack, without a network.
type services func(*http.Request) (*http.Response, error)

func (s services) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

func answering(s *sigstoretest.Stack) services {
	return func(r *http.Request) (*http.Response, error) {
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, r)
		return answer.Result(), nil
	}
}

// jobOf returns a job with the environment that the stack is for, apart from what is given by turns.
func jobOf(transport services, env ...string) (job *sigstore.Job, said *strings.Builder) {
	all := map[string]string{
		"ACTIONS_ID_TOKEN_REQUEST_URL": "http://job/token", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": sigstoretest.Bearer,
		"SIGSTORE_FULCIO_URL": "http://fulcio", "SIGSTORE_REKOR_URL": "http://rekor",
	}
	for i := 0; i < len(env); i += 2 {
		all[env[i]] = env[i+1]
	}
	said = &strings.Builder{}
	return &sigstore.Job{
		Env: func(name string) string { return all[name] }, Server: "https://github.com", Transport: transport, Now: time.Now,
		Say: func(line string) { said.WriteString(line + "\n") },
	}, said
}

const ref = "refs/ralph/issue-1"

// A job that is not meant to sign believes what the comment names. One that is, and cannot,
// believes nothing.
func TestAJobThatCannotSignBelievesNothing(t *testing.T) {
	s, _, _ := stack(t)
	honest := answering(s)
	broken := services(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })
	private, _, _ := stack(t)
	private.Visibility = "private"
	for name, c := range map[string]struct {
		transport services
		env       []string
		believes  bool
	}{
		"no identity":         {honest, []string{"ACTIONS_ID_TOKEN_REQUEST_URL", ""}, true},
		"a private one":       {answering(private), []string{"SIGSTORE_FULCIO_URL", sigstore.PublicFulcio}, true},
		"no answer":           {broken, nil, false},
		"no trusted root":     {honest, []string{"SIGSTORE_TRUSTED_ROOT", "/nowhere"}, false},
		"another job's token": {honest, []string{"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "another"}, false},
	} {
		job, said := jobOf(c.transport, c.env...)
		notary := job.Notary(t.Context())
		files := map[string][]byte{"journal.jsonl": []byte("{}")}
		if err := notary.Believes(ref, files); (err == nil) != c.believes || (notary == nil) != c.believes {
			t.Errorf("%s: Believes = %v", name, err)
		}
		if err := notary.Sign(t.Context(), ref, files); err != nil || len(files) != 1 || job.Notary(t.Context()) != notary || strings.Count(said.String(), "not signed") != 1 {
			t.Errorf("%s: Sign = %v, %q, said %q", name, err, files, said)
		}
	}
}

// A service that does not answer leaves time to push what is kept, and is not asked again at once.
func TestSealLeavesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job, err := attest.Expected("https://github.com/octo/greeter/.github/workflows/ralph.yml@refs/heads/main", attest.GitHub, "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := sigstoretest.New(job, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		hangs, asked := true, 0
		opened, _ := jobOf(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host == "fulcio" {
				if asked++; hangs {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
			}
			return answering(s)(r)
		})
		notary := opened.Notary(t.Context())
		sign := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			err := notary.Sign(ctx, ref, map[string][]byte{})
			if end, _ := ctx.Deadline(); time.Until(end) < time.Second {
				t.Error("no time is left")
			}
			return err
		}
		if first, second := sign(), sign(); first == nil || second == nil || asked != 1 {
			t.Errorf("Sign = %v, then %v, asked %d times", first, second, asked)
		}
		hangs = false
		<-time.After(time.Hour)
		if err := sign(); err != nil || asked != 2 {
			t.Errorf("Sign an hour later = %v, asked %d times", err, asked)
		}
	})
}

// What a job keeps on several refs counts on each alone.
func TestSealOnSeveralRefs(t *testing.T) {
	s, _, _ := stack(t)
	root, err := s.Root()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "root.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	job, _ := jobOf(answering(s), "SIGSTORE_TRUSTED_ROOT", file)
	notary, refs := job.Notary(t.Context()), []string{ref, ref + "2", ref}
	for _, to := range refs {
		files := map[string][]byte{"checks.json": []byte("[]")}
		if err := notary.Sign(t.Context(), to, files); err != nil {
			t.Fatal(err)
		}
		for _, from := range refs {
			if err := notary.Believes(from, maps.Clone(files)); (err == nil) != (from == to) {
				t.Errorf("signed for %s, read from %s: %v", to, from, err)
			}
		}
	}
}

// What an earlier job signed does not stay beside evidence that is not signed.
func TestSignedEvidenceOfAnEarlierJobGoes(t *testing.T) {
	s, _, _ := stack(t)
	signing, _ := jobOf(answering(s))
	closed, _ := jobOf(answering(s), "SIGSTORE_TRUSTED_ROOT", "/nowhere")
	for name, job := range map[string]*sigstore.Job{"unsigned": signing, "closed": closed, "not meant to": {Env: func(string) string { return "" }, Say: func(string) {}}} {
		home, err := workspace.Folder{Path: t.TempDir()}.NewRun("one")
		if err != nil {
			t.Fatal(err)
		}
		to, err := home.Create(sigstore.EvidenceFile)
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		err = job.Notary(t.Context()).Attest(t.Context(), home, []byte("no evidence"))
		if (err != nil) != (name == "unsigned") || home.Exists(sigstore.EvidenceFile) {
			t.Errorf("%s: Attest = %v, still there: %v", name, err, home.Exists(sigstore.EvidenceFile))
		}
	}
}
