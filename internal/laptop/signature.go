package laptop

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sigstore"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Signature are the flags by which a signature is verified.
type Signature struct {
	Signed      bool   `help:"Verify the signature of a job, and repeat no proof."`
	Identity    string `placeholder:"URL" help:"With --signed: workflow that must have signed, with its ref."`
	Issuer      string `placeholder:"URL" default:"https://token.actions.githubusercontent.com" help:"With --signed: issuer of the identity (default: GitHub's)."`
	Repository  string `placeholder:"OWNER/NAME" help:"With --signed: repository that the job ran in (default: the identity's)."`
	Caller      string `placeholder:"URL" help:"With --signed: workflow that was started, with its ref (default: the identity; needed with another repository)."`
	TrustedRoot string `type:"path" placeholder:"FILE" help:"Public keys of sigstore for --signed (default: the public instance's)."`
	Commit      string `placeholder:"REV" default:"HEAD" help:"With --signed: commit that must be signed (default: HEAD of the clone)."`
}

// Verify reports whether the evidence of the clone's commit is signed. It prints to standard output.
func (c Signature) Verify(ctx context.Context, w World, file, clone string) (int, error) {
	want, err := attest.Expected(c.Identity, c.Issuer, c.Repository)
	if err != nil {
		return 0, fault.Usage("cannot verify the signature", "name the workflow that must have signed: --identity https://github.com/OWNER/REPO/.github/workflows/ralph.yml@refs/heads/main", err)
	}
	if want.Caller = cmp.Or(c.Caller, want.Caller); want.Caller == "" {
		return 0, fault.Usage("cannot verify the signature", "name the workflow of --repository that calls the identity's: --caller https://github.com/OWNER/REPO/.github/workflows/FILE@REF", nil)
	}
	root, err := sigstore.OpenRoot(c.TrustedRoot)
	if err != nil {
		return 0, fault.Usage("cannot read the trusted root", "write one with `gh attestation trusted-root`", err)
	}
	data, err := untrusted.ReadFile(file, attest.Largest)
	if err != nil {
		return 0, fault.Usage("cannot use "+file, "name the evidence.sigstore.json of a run", err)
	}
	commit, tree, err := c.named(ctx, w, clone)
	if err != nil {
		return 0, err
	}
	signed, err := attest.Verify(data, root, want)
	var e evidence.Evidence
	if err == nil {
		e, err = evidence.FromStatement(signed.Statement)
	}
	if err == nil && (e.Code.Head != commit || e.Code.Tree != tree) {
		err = fmt.Errorf("it is about commit %.12s (tree %.12s), and %s is %.12s (tree %.12s)", e.Code.Head, e.Code.Tree, c.Commit, commit, tree)
	}
	if err != nil {
		_, said := fmt.Fprintln(w.Stdout, clean.LogLine("refused: "+err.Error()))
		return fault.ExitStopped, said
	}
	for _, line := range told(e, signed) {
		if _, err := fmt.Fprintln(w.Stdout, clean.LogLine(line)); err != nil {
			return 0, err
		}
	}
	if e.Status != policy.StatusCompleted || len(e.NotVerified) > 0 {
		return fault.ExitStopped, nil
	}
	return fault.ExitDone, nil
}

// named returns the clone's commit that must be signed, with its tree.
func (c Signature) named(ctx context.Context, w World, clone string) (commit, tree string, err error) {
	tool, err := w.SoundGit(ctx, clone)
	if err != nil {
		return "", "", err
	}
	if commit, err = tool.Named(ctx, clone, c.Commit); err != nil {
		return "", "", err
	}
	text, err := tool.Do(ctx, git.Call{Dir: clone, Args: []string{"rev-parse", "--verify", "-q", commit + "^{tree}"}})
	return commit, strings.TrimSpace(string(text)), err
}

func told(e evidence.Evidence, signed attest.Signed) []string {
	proven := 0
	for _, story := range e.Stories {
		if story.Proven {
			proven++
		}
	}
	lines := []string{
		fmt.Sprintf("%.12s: %s says that it is %s, with %d of %d stories proven", e.Code.Head, e.Run, e.Status, proven, len(e.Stories)),
		fmt.Sprintf("signed by %s in %s at %s", signed.Signer.Identity, signed.Signer.Repository, signed.At.Format("2006-01-02T15:04:05Z")),
		fmt.Sprintf("sandbox: %s; base: %.12s", e.Rules.Sandbox, e.Code.Base),
	}
	for _, check := range e.Rules.Checks {
		lines = append(lines, "check: "+check.Command)
	}
	for _, words := range e.NotVerified {
		lines = append(lines, "not verified: "+words)
	}
	return lines
}
