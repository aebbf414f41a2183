package laptop

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sigstore"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Signature are the flags by which a signature is verified.
type Signature struct {
	Signed      bool   `help:"Verify the signature of a job, and repeat no proof."`
	Identity    string `placeholder:"URL" help:"With --signed: workflow that must have signed, with its ref."`
	Issuer      string `placeholder:"URL" default:"https://token.actions.githubusercontent.com" help:"With --signed: issuer of the identity (default: GitHub's)."`
	Repository  string `placeholder:"OWNER/NAME" help:"With --signed: repository that the job ran in (default: the identity's)."`
	TrustedRoot string `type:"path" placeholder:"FILE" help:"With --signed: keys of sigstore (default: those of the public one)."`
	Commit      string `placeholder:"REV" default:"HEAD" help:"With --signed: commit that must be signed (default: HEAD of the clone)."`
}

// Verify tells whether the evidence of the clone's commit is signed as it should be, in
// file. What it prints goes to standard output.
func (c Signature) Verify(ctx context.Context, w World, file, clone string) (int, error) {
	want, err := attest.Expected(c.Identity, c.Issuer, c.Repository)
	if err != nil {
		return 0, fault.Usage("cannot verify the signature", "name the workflow that must have signed: --identity https://github.com/OWNER/REPO/.github/workflows/ralph.yml@refs/heads/main", err)
	}
	root, err := sigstore.OpenRoot(c.TrustedRoot)
	if err != nil {
		return 0, fault.Usage("cannot read the trusted root", "write one with `gh attestation trusted-root`", err)
	}
	data, err := untrusted.ReadFile(file, attest.Largest)
	if err != nil {
		return 0, fault.Usage("cannot use "+file, "name the evidence.sigstore.json of a run", err)
	}
	tool, done, err := w.SoundGit(ctx, clone)
	if err != nil {
		return 0, err
	}
	defer done()
	commit, err := tool.Named(ctx, clone, c.Commit)
	if err != nil {
		return 0, err
	}
	signed, err := attest.Verify(data, root, want)
	var e evidence.Evidence
	if err == nil {
		e, err = evidence.Stated(signed.Statement)
	}
	if err == nil && e.Code.Head != commit {
		err = fmt.Errorf("it is about commit %.12s, and %s is %.12s", e.Code.Head, c.Commit, commit)
	}
	if err != nil {
		_, said := fmt.Fprint(w.Stdout, clean.LogLines("refused: "+err.Error()+"\n"))
		return fault.ExitStopped, said
	}
	_, err = fmt.Fprint(w.Stdout, clean.LogLines(told(e, signed)))
	return fault.ExitDone, err
}

// told is what signed evidence comes to.
func told(e evidence.Evidence, signed attest.Signed) string {
	proven := 0
	for _, story := range e.Stories {
		if story.Proven {
			proven++
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%.12s: %s says that it is %s, with %d of %d stories proven\nsigned by %s in %s at %s\n",
		e.Code.Head, e.Run, e.Status, proven, len(e.Stories), signed.Signer.Identity, signed.Signer.Repository, signed.At.Format("2006-01-02T15:04:05Z"))
	for _, words := range e.NotVerified {
		text.WriteString("not verified: " + words + "\n")
	}
	return text.String()
}
