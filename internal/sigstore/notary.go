package sigstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
	"github.com/ralph-loop/ralph/templates"
)

// Notary signs for a job, and verifies what jobs of the same workflow have signed.
type Notary struct {
	signer Signer
	root   attest.Root
	own    attest.Signer
	now    func() time.Time
	spoken map[string]*Signed // keys for what is kept, by ref
	closed string             // why the job cannot sign, though it has an identity
	failed error              // why a ref has none yet, and
	again  time.Time
}

// Job describes a job by its environment.
type Job struct {
	Env        func(string) string
	Server     string            // its GitHub
	Transport  http.RoundTripper // nil: the default
	Now        func() time.Time
	Unconfined bool // the agent has no sandbox
	Say        func(string)

	asked bool
	found *Notary
}

// errNone is the error of a job that does not sign.
type errNone struct{ error }

// Notary returns the job's notary, or nil if it does not sign. If it should sign and cannot, the notary signs and
// believes nothing, and says why.
func (j *Job) Notary(ctx context.Context) *Notary {
	if j.asked {
		return j.found
	}
	j.asked = true
	n, err := j.open(ctx)
	if err != nil {
		j.Say("evidence is not signed: " + err.Error())
		if errors.As(err, &errNone{}) || errors.Is(err, ErrPrivate) {
			return nil
		}
		n = &Notary{closed: err.Error()}
	}
	j.found = n
	return n
}

func (j *Job) open(ctx context.Context) (n *Notary, err error) {
	n = &Notary{now: j.Now, spoken: map[string]*Signed{}, signer: Signer{
		HTTP: j.Transport, TokenURL: j.Env("ACTIONS_ID_TOKEN_REQUEST_URL"), Token: j.Env("ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
		Fulcio: cmp.Or(j.Env("SIGSTORE_FULCIO_URL"), PublicFulcio), Rekor: cmp.Or(j.Env("SIGSTORE_REKOR_URL"), PublicRekor),
	}}
	switch {
	case n.signer.TokenURL == "" || n.signer.Token == "":
		return nil, errNone{errors.New("the job has no OIDC identity (`permissions: id-token: write` gives it one)")}
	case j.Unconfined:
		return nil, errNone{errors.New("without a sandbox the agent could sign as well")}
	}
	if n.root, err = OpenRoot(j.Env("SIGSTORE_TRUSTED_ROOT")); err != nil {
		return nil, err
	}
	n.own, err = n.signer.Who(ctx, j.Server)
	return n, err
}

// Reader returns a notary that believes what jobs of the running workflow have signed for a branch, and signs nothing.
// The job needs no identity. A workflow that others call has another identity, and is not believed.
func (j *Job) Reader(branch string) (*Notary, error) {
	file, _, _ := strings.Cut(j.Env("GITHUB_WORKFLOW_REF"), "@")
	want := attest.Signer{
		Identity: j.Server + "/" + file + "@refs/heads/" + branch, Issuer: j.Server + "/_services/token",
		Repository: j.Server + "/" + j.Env("GITHUB_REPOSITORY"),
	}
	if want.Caller = want.Identity; j.Server == "https://github.com" {
		want.Issuer = attest.GitHub
	}
	root, err := OpenRoot(j.Env("SIGSTORE_TRUSTED_ROOT"))
	return &Notary{root: root, own: want}, err
}

// Signs reports whether it has a job's identity to sign with.
func (n *Notary) Signs() bool { return n.signer.Token != "" }

// Identity returns the workflow whose signatures are believed, or "".
func (n *Notary) Identity() string {
	if n == nil {
		return ""
	}
	return n.own.Identity
}

// EvidenceFile is the name of the file with signed evidence.
const EvidenceFile = "evidence.sigstore.json"

// Attest signs the evidence file of a run, in place of an earlier signature.
func (n *Notary) Attest(ctx context.Context, home workspace.Run, file []byte) error {
	if err := home.Remove(EvidenceFile); err != nil || n == nil || n.closed != "" {
		return err
	}
	statement, err := evidence.Statement(file)
	if err != nil {
		return fmt.Errorf("it is not signed: %w", err)
	}
	signed, err := n.signer.Sign(ctx, statement)
	if err == nil {
		_, err = attest.Verify(signed.Bundle, n.root, n.own)
	}
	if err != nil {
		return fmt.Errorf("it is not signed: %w", err)
	}
	return home.WriteFile(EvidenceFile, signed.Bundle)
}

const signatureFile = "signature.json" // the signature of the files beside it

// Sign adds a signature to files for a ref, by a key for the ref and the job. Without a notary it adds nothing.
func (n *Notary) Sign(ctx context.Context, ref string, files map[string][]byte) error {
	if n == nil || n.closed != "" {
		return nil
	}
	spoken, err := n.speak(ctx, ref)
	if err != nil {
		return err
	}
	signature, err := spoken.Sign(attest.KeptText(ref, files))
	if err != nil {
		return err
	}
	files[signatureFile], err = json.Marshal(attest.Kept{Bundle: spoken.Bundle, Signature: signature})
	return err
}

const pause = 5 * time.Minute // until services that failed are asked again

// speak gets a signed key for the ref, in half of the time left: the files must be pushed, too.
func (n *Notary) speak(ctx context.Context, ref string) (*Signed, error) {
	if spoken := n.spoken[ref]; spoken != nil {
		return spoken, nil
	}
	if n.failed != nil && n.now().Before(n.again) {
		return nil, n.failed
	}
	statement, err := attest.Keeping(ref)
	if err != nil {
		return nil, err
	}
	limit := patience
	if end, is := ctx.Deadline(); is {
		limit = min(limit, end.Sub(n.now())/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	n.spoken[ref], n.failed = n.signer.Sign(ctx, statement)
	n.again = n.now().Add(pause)
	return n.spoken[ref], n.failed
}

// Believes removes the signature from files, and returns an error unless this workflow signed them. Without a notary
// all files are believed.
func (n *Notary) Believes(ref string, files map[string][]byte) error {
	signature := files[signatureFile]
	delete(files, signatureFile)
	switch {
	case n == nil:
		return nil
	case n.closed != "":
		return errors.New("signatures cannot be verified: " + n.closed)
	case len(signature) == 0:
		return errors.New("it is not signed")
	}
	return attest.VerifyKept(signature, n.root, n.own, ref, files)
}

// OpenRoot reads the trusted keys in a file. Without a file they are those of the public sigstore.
func OpenRoot(file string) (root attest.Root, err error) {
	if file == "" {
		return attest.ReadRoot([]byte(templates.Text("sigstore/trusted-root.json")))
	}
	data, err := untrusted.ReadFile(file, attest.Largest)
	if err != nil {
		return root, err
	}
	return attest.ReadRoot(data)
}
