package evidence_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/testsupport/sigstoretest"
)

// signedBy signs a statement as a job, and returns the root that trusts it, and the job.
func signedBy(t *testing.T, statement []byte) (bundle attest.Bundle, root attest.Root, job attest.Signer) {
	t.Helper()
	job, err := attest.Expected("https://github.com/octo/greeter/.github/workflows/ralph.yml@refs/heads/main", attest.GitHub, "")
	if err != nil {
		t.Fatal(err)
	}
	stack, err := sigstoretest.New(job, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if root, err = stack.Root(); err != nil {
		t.Fatal(err)
	}
	if bundle, err = stack.Sign(statement, job, time.Now()); err != nil {
		t.Fatal(err)
	}
	return bundle, root, job
}

// statement returns the statement about a run's evidence after forge changed it.
func statement(t *testing.T, forge func(*evidence.Evidence)) []byte {
	t.Helper()
	e := evidence.Of(evident(t), nil)
	e.Code.Head = "c1"
	forge(&e)
	file, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	said, err := evidence.Statement(file)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// The signed evidence is read back unchanged, and each forgery is refused.
func TestSignedEvidence(t *testing.T) {
	said := statement(t, func(*evidence.Evidence) {})
	bundle, root, job := signedBy(t, said)
	read := func(payload []byte) (evidence.Evidence, error) {
		forged := bundle
		forged.Envelope.Payload = payload
		data, err := json.Marshal(forged)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := attest.Verify(data, root, job)
		if err != nil {
			return evidence.Evidence{}, err
		}
		return evidence.FromStatement(signed.Statement)
	}
	got, err := read(said)
	if err != nil {
		t.Fatal(err)
	}
	if again := statement(t, func(e *evidence.Evidence) { *e = got }); !bytes.Equal(again, said) {
		t.Fatalf("signed evidence (-want +got):\n%s", cmp.Diff(string(said), string(again)))
	}
	for name, c := range forgeries() {
		payload := statement(t, c.forge)
		if got, err := read(payload); (err == nil) != bytes.Equal(payload, said) {
			t.Errorf("%s: %+v, %v", name, got.Code, err)
		}
	}
}

// A signed statement that is not evidence is refused.
func TestStatementsThatAreNoEvidence(t *testing.T) {
	said := statement(t, func(*evidence.Evidence) {})
	var unproven attest.Statement
	if err := json.Unmarshal(statement(t, func(e *evidence.Evidence) { e.Proof.Tree = "t2" }), &unproven); err != nil {
		t.Fatal(err)
	}
	if got, err := evidence.FromStatement(unproven); err == nil {
		t.Errorf("a proof of another tree: %+v", got.Code)
	}
	for name, change := range map[string][2]string{
		"another commit": {`"gitCommit":"c1"`, `"gitCommit":"c2"`},
		"another tree":   {`"gitTree":"t1"`, `"gitTree":"t2"`},
		"no commit":      {`"gitCommit"`, `"sha1"`},
		"two commits":    {`"gitTree":"t1"`, `"gitTree":"t1","gitCommit":"c1"`},
		"another type":   {evidence.PredicateType, "https://slsa.dev/provenance/v1"},
		"no proof":       {`"proof":`, `"approved":`},
	} {
		var s attest.Statement
		text := strings.Replace(string(said), change[0], change[1], 1)
		if err := json.Unmarshal([]byte(text), &s); err != nil || text == string(said) {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := evidence.FromStatement(s); err == nil {
			t.Errorf("%s: %+v", name, got.Code)
		}
	}
}
