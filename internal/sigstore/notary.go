package sigstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Notary signs for a job, and tells what jobs of the same workflow have signed.
type Notary struct {
	signer Signer
	root   attest.Root
	own    attest.Signer
	spoken *Signed // for what is kept; nil: not yet
}

// Job is a job as its environment tells of it.
type Job struct {
	Env        func(string) string
	Server     string            // its GitHub
	Transport  http.RoundTripper // nil: the usual
	Unconfined bool              // the agent is in no sandbox
	Say        func(string)

	asked bool
	found *Notary
}

// Notary is the job's; nil: nothing is signed, and it is said why, once.
func (j *Job) Notary(ctx context.Context) *Notary {
	if j.asked {
		return j.found
	}
	j.asked = true
	n, err := j.open(ctx)
	if err != nil {
		j.Say("evidence is not signed: " + err.Error())
		return nil
	}
	j.found = n
	return n
}

func (j *Job) open(ctx context.Context) (n *Notary, err error) {
	n = &Notary{signer: Signer{
		HTTP: j.Transport, TokenURL: j.Env("ACTIONS_ID_TOKEN_REQUEST_URL"), Token: j.Env("ACTIONS_ID_TOKEN_REQUEST_TOKEN"),
		Fulcio: cmp.Or(j.Env("SIGSTORE_FULCIO_URL"), PublicFulcio), Rekor: cmp.Or(j.Env("SIGSTORE_REKOR_URL"), PublicRekor),
	}}
	switch {
	case n.signer.TokenURL == "" || n.signer.Token == "":
		return nil, errors.New("the job has no OIDC identity (`permissions: id-token: write` gives it one)")
	case j.Unconfined:
		return nil, errors.New("without a sandbox the agent could sign as well")
	}
	if n.root, err = OpenRoot(j.Env("SIGSTORE_TRUSTED_ROOT")); err != nil {
		return nil, err
	}
	n.own, err = n.signer.Who(ctx, j.Server)
	return n, err
}

// EvidenceFile is the name of the file with signed evidence, beside that without.
const EvidenceFile = "evidence.sigstore.json"

// Attest signs the evidence of a run, as its file has it.
func (n *Notary) Attest(ctx context.Context, home workspace.Run, file []byte) error {
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
	to, err := home.Create(EvidenceFile)
	if err != nil {
		return err
	}
	_, err = to.Write(signed.Bundle)
	return errors.Join(err, to.Close())
}

// sealFile holds the signature of the files that are kept with it.
const sealFile = "signature.json"

// Seal adds to files that are kept on a ref their signature, with a key that is let speak
// for the ref once in a job. Without a notary it adds none.
func (n *Notary) Seal(ctx context.Context, ref string, files map[string][]byte) error {
	if n == nil {
		return nil
	}
	if n.spoken == nil {
		statement, err := attest.Keeping(ref)
		if err != nil {
			return err
		}
		if n.spoken, err = n.signer.Sign(ctx, statement); err != nil {
			return err
		}
	}
	signature, err := n.spoken.Sign(attest.KeptText(ref, files))
	if err != nil {
		return err
	}
	files[sealFile], err = json.Marshal(attest.Kept{Bundle: n.spoken.Bundle, Signature: signature})
	return err
}

// Believes takes the signature out of files, and tells whether a job of this very
// workflow has sealed them. Without a notary all are believed.
func (n *Notary) Believes(ref string, files map[string][]byte) error {
	seal := files[sealFile]
	delete(files, sealFile)
	switch {
	case n == nil:
		return nil
	case len(seal) == 0:
		return errors.New("it is not signed")
	}
	return attest.VerifyKept(seal, n.root, n.own, ref, files)
}
