package remote

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Files are ralph's files on a remote's ref that is no branch, as a commit on top of the ref.
type Files struct {
	Ref     string            // one of refs/ralph/
	Parent  string            // the commit that the ref stands at; empty: it is to be new
	Files   map[string][]byte // all that is there from then on, by their names in one folder
	Subject string
	At      time.Time
}

var (
	refForm  = pattern.Of(`^refs/ralph/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	fileForm = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

const fresh = "refs/ralph/fresh"

// PushFiles brings the remote's ref to a commit of the files and gives that. It forces nothing: where the ref has moved
// meanwhile the error is ErrNonFastForward, and nothing has happened. Two who push the very same at once both succeed:
// what distinguishes them belongs into it.
func (r Repository) PushFiles(ctx context.Context, t *git.Trusted, f Files) (string, error) {
	stream, err := f.stream()
	if err != nil {
		return "", err
	}
	sha, err := git.ObjectID(t.Do(ctx, git.Call{
		Args:  []string{"fast-import", "--quiet", "--done", "--force"},
		Stdin: bytes.NewReader(stream),
	}))
	if err != nil {
		return "", fmt.Errorf("write what is to be kept: %w", err)
	}
	// The lease is for a ref that is to be new: two unrelated commits could
	// both be the first otherwise, as there is no descent to hold them to.
	return sha, r.push(ctx, t, sha+":"+f.Ref, lease(f.Ref, f.Parent))
}

func lease(ref, commit string) string { return "--force-with-lease=" + ref + ":" + commit }

// stream returns the commit for git fast-import, which answers with its name.
func (f Files) stream() ([]byte, error) {
	if err := checkRef(f.Ref); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "reset %s\n", fresh)
	if f.Parent != "" {
		if err := git.CheckSHA(f.Parent); err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "from %s\n\n", f.Parent)
	}
	subject := git.OneLine(f.Subject, 200)
	fmt.Fprintf(&out, "commit %s\nmark :1\ncommitter %s <%s> %d +0000\ndata %d\n%s\ndeleteall\n",
		fresh, git.Ralph.Name, git.Ralph.Email, f.At.Unix(), len(subject), subject)
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		if !fileForm.MatchString(name) {
			return nil, fmt.Errorf("%q is no name for a file that is to be kept", git.OneLine(name, 80))
		}
		fmt.Fprintf(&out, "M %s inline %s\ndata %d\n", git.ModeFile, name, len(f.Files[name]))
		out.Write(f.Files[name])
		out.WriteByte('\n')
	}
	out.WriteString("get-mark :1\ndone\n")
	return out.Bytes(), nil
}

// FetchRef returns the commit of one of our refs; empty without the ref.
func (r Repository) FetchRef(ctx context.Context, t *git.Trusted, ref string) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	commits, err := r.list(ctx, t.Git(), t.Do, ref)
	if err != nil || commits[ref] == "" {
		return "", err
	}
	if err := r.fetch(ctx, t, "", "+"+ref+":"+ref); err != nil {
		return "", err
	}
	return t.Resolve(ctx, ref)
}

// Ref is a ref of ours that a remote keeps, as it stands there.
type Ref struct {
	Name   string
	Commit string
	At     time.Time // when somebody wrote there last
}

// FetchRefs fetches our refs without history. Unexpected names and objects are left out.
func (r Repository) FetchRefs(ctx context.Context, t *git.Trusted) ([]Ref, error) {
	if err := r.fetch(ctx, t, "--depth=1", "+refs/ralph/*:refs/ralph/*"); err != nil {
		return nil, err
	}
	const format = "--format=%(objecttype) %(objectname) %(committerdate:unix) %(refname)"
	out, err := t.Ask(ctx, "for-each-ref", format, "refs/ralph/")
	if err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	var all []Ref
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "commit" || !refForm.MatchString(fields[3]) {
			continue
		}
		at, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			continue
		}
		all = append(all, Ref{Name: fields[3], Commit: fields[1], At: time.Unix(at, 0).UTC()})
	}
	return all, nil
}

// PushRef brings a commit to a ref of ours, in the place of what was there.
func (r Repository) PushRef(ctx context.Context, t *git.Trusted, ref, sha string) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	if err := git.CheckSHA(sha); err != nil {
		return err
	}
	return r.push(ctx, t, "+"+sha+":"+ref)
}

// DeleteRef removes a ref of ours, if it is still at a given commit; else ErrNonFastForward.
func (r Repository) DeleteRef(ctx context.Context, t *git.Trusted, ref Ref) error {
	if err := checkRef(ref.Name); err != nil {
		return err
	}
	if ref.Commit == "" {
		return r.push(ctx, t, ":"+ref.Name)
	}
	if err := git.CheckSHA(ref.Commit); err != nil {
		return err
	}
	return r.push(ctx, t, ":"+ref.Name, lease(ref.Name, ref.Commit))
}

func checkRef(ref string) error {
	if !refForm.MatchString(ref) {
		return fmt.Errorf("%q is no ref of ours", git.OneLine(ref, 80))
	}
	return nil
}

const mostKept = 64 << 20

// ReadFiles returns the files of such a commit, without those that ralph would not have written.
func ReadFiles(ctx context.Context, t *git.Trusted, sha string) (map[string][]byte, error) {
	if err := git.CheckSHA(sha); err != nil {
		return nil, err
	}
	out, err := t.Do(ctx, git.Call{
		Args:   []string{"archive", "--format=tar", sha},
		Limit:  mostKept,
		Memory: git.MaxMemory,
	})
	if err != nil {
		return nil, fmt.Errorf("read what was kept: %w", err)
	}
	files := map[string][]byte{}
	archive := tar.NewReader(bytes.NewReader(out))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read what was kept: %w", err)
		}
		if header.Typeflag != tar.TypeReg || !fileForm.MatchString(header.Name) {
			continue
		}
		files[header.Name], err = io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("read what was kept: %w", err)
		}
	}
}
