package git

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Deposit is files of the program's own that a remote keeps on a ref that is no
// branch, as one commit on top of what is there.
type Deposit struct {
	Ref     string            // one of refs/ralph/
	Onto    string            // the commit that the ref stands at; empty: it is to be new
	Files   map[string][]byte // all that is there from then on, by their names in one folder
	Subject string
	At      time.Time
}

var (
	depositRef  = pattern.Of(`^refs/ralph/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	depositFile = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// fresh is the ref in our own repository on which deposits are made.
const fresh = "refs/ralph/fresh"

// Store makes a repository for deposits in dir, or takes up the one there.
func (g Git) Store(ctx context.Context, dir string) (*Trusted, error) {
	return g.create(ctx, dir, "sha1")
}

// Deposit brings the remote's ref to what is deposited and gives the commit. It
// forces nothing: where the ref has moved meanwhile the error is
// ErrNonFastForward, and nothing has happened. Of two who deposit the very same
// at once both are told that it is there: what tells them apart belongs into it.
func (t *Trusted) Deposit(ctx context.Context, to Remote, d Deposit) (string, error) {
	stream, err := d.stream()
	if err != nil {
		return "", err
	}
	sha, err := object(t.do(ctx, call{args: []string{"fast-import", "--quiet", "--done", "--force"}, stdin: bytes.NewReader(stream)}))
	if err != nil {
		return "", fmt.Errorf("write what is to be kept: %w", err)
	}
	c, address, err := t.git.reach(to, call{})
	if err != nil {
		return "", err
	}
	// The lease is for a ref that is to be new: two unrelated commits could
	// both be the first otherwise, as there is no descent to hold them to.
	c.args = []string{
		"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags",
		"--force-with-lease=" + d.Ref + ":" + d.Onto, "--", address, sha + ":" + d.Ref,
	}
	if out, err := t.do(ctx, c); err != nil {
		return "", to.refusal(string(out), err)
	}
	return sha, nil
}

// stream is the deposit as git fast-import reads it, which answers with the
// commit.
func (d Deposit) stream() ([]byte, error) {
	if !depositRef.MatchString(d.Ref) {
		return nil, fmt.Errorf("%q is no ref of ours", tidy(d.Ref, 80))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "reset %s\n", fresh)
	if d.Onto != "" {
		if err := checkSHA(d.Onto); err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "from %s\n\n", d.Onto)
	}
	subject := tidy(d.Subject, 200)
	fmt.Fprintf(&out, "commit %s\nmark :1\ncommitter %s <%s> %d +0000\ndata %d\n%s\ndeleteall\n",
		fresh, ralph.Name, ralph.Email, d.At.Unix(), len(subject), subject)
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		if !depositFile.MatchString(name) {
			return nil, fmt.Errorf("%q is no name for a file that is to be kept", tidy(name, 80))
		}
		fmt.Fprintf(&out, "M %s inline %s\ndata %d\n", modeFile, name, len(d.Files[name]))
		out.Write(d.Files[name])
		out.WriteByte('\n')
	}
	out.WriteString("get-mark :1\ndone\n")
	return out.Bytes(), nil
}

// Collect fetches the remote's ref and gives the commit that it stands at; empty
// where there is none.
func (t *Trusted) Collect(ctx context.Context, from Remote, ref string) (string, error) {
	if !depositRef.MatchString(ref) {
		return "", fmt.Errorf("%q is no ref of ours", tidy(ref, 80))
	}
	c, address, err := t.git.reach(from, call{})
	if err != nil {
		return "", err
	}
	c.args = []string{"ls-remote", "--", address, ref}
	out, err := t.do(ctx, c)
	if err != nil {
		return "", from.judge("look at "+ref, err)
	}
	sha, name, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	if name != ref || !shaForm.MatchString(sha) { // ls-remote also finds refs that merely end so
		return "", nil
	}
	c, address, err = t.git.reach(from, call{set: forgiven()})
	if err != nil {
		return "", err
	}
	c.args = []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", address, "+" + ref + ":" + ref}
	if _, err := t.do(ctx, c); err != nil {
		return "", from.judge("fetch "+ref, err)
	}
	return t.Resolve(ctx, ref)
}

// Follows tells whether newer is older or was built on it.
func (t *Trusted) Follows(ctx context.Context, older, newer string) (bool, error) {
	if err := checkSHA(older, newer); err != nil {
		return false, err
	}
	_, err := t.ask(ctx, "merge-base", "--is-ancestor", older, newer)
	if failed, is := answered(err); is && !failed.TimedOut {
		return false, nil // exit 1: it does not; 128: the older one is not here at all
	}
	return err == nil, err
}

// mostKept is how much of a deposit is read.
const mostKept = 64 << 20

// Contents are the files of a deposit, by their names. What this program would
// not have put there is left out.
func (t *Trusted) Contents(ctx context.Context, sha string) (map[string][]byte, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	out, err := t.do(ctx, call{args: []string{"archive", "--format=tar", sha}, limit: mostKept})
	if err != nil {
		return nil, fmt.Errorf("read what was kept: %w", err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(bytes.NewReader(out)); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, fmt.Errorf("read what was kept: %w", err)
		case header.Typeflag != tar.TypeReg || !depositFile.MatchString(header.Name):
			continue
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			return nil, fmt.Errorf("read what was kept: %w", err)
		}
	}
}
