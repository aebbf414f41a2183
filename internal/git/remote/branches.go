package remote

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Branches are those that a clone is for.
type Branches struct {
	Base string   // must be there
	Work []string // taken where they are there
}

// Clone fetches some branches of the remote into dir, and nothing else; again on a later call.
func (r Repository) Clone(ctx context.Context, g git.Git, dir string, want Branches) (*git.Trusted, error) {
	all := append([]string{want.Base}, want.Work...)
	for _, branch := range all {
		if err := git.CheckBranch(branch); err != nil {
			return nil, err
		}
	}
	t, err := g.Init(ctx, dir, "sha1")
	if err != nil {
		return nil, err
	}
	commits, err := r.list(ctx, t.Git(), t.Do, refsOf(append(conflicting(want.Work), all...))...)
	if err != nil {
		return nil, err
	}
	if err := checkNames(commits, want.Work); err != nil {
		return nil, err
	}
	if commits[git.BranchRef(want.Base)] == "" {
		return nil, fault.Usage(fmt.Sprintf("the repository has no branch %q", want.Base),
			"name the branch that the work is for", git.ErrNotFound)
	}
	var refspecs []string
	for _, ref := range refsOf(all) {
		if commits[ref] != "" {
			refspecs = append(refspecs, "+"+ref+":"+ref)
			continue
		}
		if err := t.DeleteRef(ctx, ref); err != nil { // an earlier call may have fetched it
			return nil, err
		}
	}
	return t, r.fetch(ctx, t, "", refspecs...)
}

// checkNames refuses branches that the remote cannot have beside its own.
func checkNames(commits map[string]string, work []string) error {
	for _, branch := range work {
		ref := git.BranchRef(branch)
		for other := range commits {
			if strings.HasPrefix(ref, other+"/") || strings.HasPrefix(other, ref+"/") {
				name := strings.TrimPrefix(other, git.BranchRef(""))
				return fault.Usage(fmt.Sprintf("the repository has a branch %q, so it cannot have %q", name, branch),
					"rename that branch, or set `github.branchPrefix`", nil)
			}
		}
	}
	return nil
}

// conflicting returns the names that no branch may have, as git keeps branches in folders of such names.
func conflicting(branches []string) []string {
	var names []string
	for _, branch := range branches {
		names = append(names, branch+below)
		for at := path.Dir(branch); at != "."; at = path.Dir(at) {
			names = append(names, at)
		}
	}
	return names
}

func refsOf(branches []string) []string {
	var refs []string
	for _, branch := range branches {
		refs = append(refs, git.BranchRef(branch))
	}
	return refs
}

// Fetch gets a commit by its name, which may be on no branch any more, and keeps it.
func (r Repository) Fetch(ctx context.Context, t *git.Trusted, sha string) error {
	if err := git.CheckSHA(sha); err != nil {
		return err
	}
	if err := r.fetch(ctx, t, "", sha); err != nil {
		return err
	}
	return t.UpdateRef(ctx, git.TakenRef, sha)
}

// Tag returns the commit of a remote's tag; empty without such a tag.
func (r Repository) Tag(ctx context.Context, g git.Git, name string) (string, error) {
	ref := "refs/tags/" + name
	commits, err := r.list(ctx, g, g.Do, ref, ref+"^{}")
	return cmp.Or(commits[ref+"^{}"], commits[ref]), err // an annotated tag has both
}

// Update is a branch that is to stand at a commit.
type Update struct {
	Branch string
	SHA    string
	// Was is where it stands now; empty: anywhere. A push over another commit is refused, also over an older one.
	Was string
}

// Push moves a branch of the remote to a commit, never by force. The error is an Error.
func (r Repository) Push(ctx context.Context, t *git.Trusted, u Update) error {
	if err := git.CheckBranch(u.Branch); err != nil {
		return err
	}
	if err := git.CheckSHA(u.SHA); err != nil {
		return err
	}
	ref := git.BranchRef(u.Branch)
	var flags []string
	if u.Was != "" {
		follows, err := t.IsAncestor(ctx, u.Was, u.SHA)
		if err != nil {
			return err
		}
		if follows { // else a lease would force it
			flags = append(flags, lease(ref, u.Was))
		}
	}
	return r.push(ctx, t, u.SHA+":"+ref, flags...)
}

// Deliver brings a branch of the user's repository to a commit, reading it from the trusted one. It is never forced,
// and never the branch that is checked out: the user's files stay as they are. Where others went on with it the error
// is ErrNonFastForward.
func Deliver(ctx context.Context, t *git.Trusted, to git.Place, branch, sha string) error {
	if err := git.CheckBranch(branch); err != nil {
		return err
	}
	if err := git.CheckSHA(sha); err != nil {
		return err
	}
	err := fetchInto(ctx, t, to, sha+":"+git.BranchRef(branch))
	if err == nil {
		return nil
	}
	what := fmt.Sprintf("bring %s to %s", branch, to.Top)
	failed, ok := git.Answered(err)
	if ok && strings.HasPrefix(failed.Said, "fatal: refusing to fetch into ") {
		return fault.Usage(what, "switch to another branch there", err)
	}
	if git.SaidNo(err) && failed.Said == "" { // with -q, git does not mention that it is no fast-forward
		return &Error{Act: what, Kind: ErrNonFastForward}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// Bring brings a commit to the user's repository, as ref. It may replace another commit.
func Bring(ctx context.Context, t *git.Trusted, to git.Place, ref, sha string) error {
	if err := git.CheckSHA(sha); err != nil {
		return err
	}
	if err := fetchInto(ctx, t, to, "+"+sha+":"+ref); err != nil {
		return fmt.Errorf("bring %.12s to %s: %w", sha, to.Top, err)
	}
	return nil
}

// fetchInto has the user's repository fetch from the trusted one.
func fetchInto(ctx context.Context, t *git.Trusted, to git.Place, refspec string) error {
	c, address, err := (&Repository{URL: t.Dir}).reach(ctx, t.Git(), git.Call{Set: ignoredQuirks()})
	if err != nil {
		return err
	}
	c.Args = []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", address, refspec}
	_, err = to.Do(ctx, c)
	return err
}

// Bundle writes a branch at sha, without what base holds, as a file that git fetches from.
func Bundle(ctx context.Context, t *git.Trusted, to io.Writer, branch string, span git.Span) error {
	if err := git.CheckBranch(branch); err != nil {
		return err
	}
	if err := git.CheckSHA(span.From, span.To); err != nil {
		return err
	}
	// A bundle holds refs, and this one needs the branch's name.
	ref := git.BranchRef(branch)
	if err := t.UpdateRef(ctx, ref, span.To); err != nil {
		return err
	}
	_, err := t.Do(ctx, git.Call{
		Args:   []string{"bundle", "create", "-q", "-", "^" + span.From, ref},
		Stdout: to,
		Limit:  2 << 30,
		Memory: git.MaxMemory,
	})
	if err != nil {
		return fmt.Errorf("make a bundle of %s: %w", branch, err)
	}
	return nil
}
