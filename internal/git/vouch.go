package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // it is what git names objects by
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Vouch is a fault where something that these commits hold is not what its name
// says. Who can write to a store can put another content where an object was:
// git reads it without a look, and shows no change.
func (t *Trusted) Vouch(ctx context.Context, commits ...string) error {
	if err := checkSHA(commits...); err != nil {
		return err
	}
	names, err := t.do(ctx, call{args: append([]string{"rev-list", "--objects", "--no-walk", "--no-object-names"}, commits...), limit: noEnd, timeout: farther})
	if err == nil {
		err = named(ctx, t.do, names)
	}
	if err == nil {
		err = t.namedEverywhere(ctx, names)
	}
	if failed, said := answered(err); said && !failed.TimedOut || errors.Is(err, errMisnamed) {
		return fault.Usage("an object in the repository's store is not what it was: "+err.Error(), "git fsck shows which; a fresh clone has them all", nil)
	}
	return err
}

const noEnd = 1 << 50

// named is an error where what git reads of one of these is not what its name says.
func named(ctx context.Context, do doing, names []byte) error {
	look := &naming{}
	_, err := do(ctx, call{
		args:  []string{"cat-file", "--buffer", "--batch=%(objectname) %(objecttype) %(objectsize)"},
		stdin: bytes.NewReader(names), stdout: look, limit: noEnd, timeout: farther,
	})
	if look.odd != nil {
		return look.odd
	}
	return err
}

var errMisnamed = errors.New("its content has another name")

// naming reads what cat-file prints, and names each object anew.
type naming struct {
	head []byte // a line so far
	name string
	left int64 // bytes of the object to come, and one for the end of its line
	sum  hash.Hash
	odd  error
}

// Write takes all, up to the first object that is not what it says.
func (n *naming) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 && n.odd == nil {
		if n.left == 0 {
			p = n.begin(p)
			continue
		}
		part := p[:min(int64(len(p)), n.left)]
		p, n.left = p[len(part):], n.left-int64(len(part))
		if n.left == 0 {
			part = part[:len(part)-1]
		}
		_, _ = n.sum.Write(part) // it cannot fail
		if n.left == 0 && fmt.Sprintf("%x", n.sum.Sum(nil)) != n.name {
			n.odd = fmt.Errorf("%s: %w", n.name, errMisnamed)
		}
	}
	if n.odd != nil {
		return 0, n.odd
	}
	return size, nil
}

// begin reads the line that stands before an object.
func (n *naming) begin(p []byte) []byte {
	line, rest, whole := bytes.Cut(p, []byte("\n"))
	if n.head = append(n.head, line...); !whole {
		return nil
	}
	words := strings.Fields(string(n.head))
	n.head = nil
	if len(words) != 3 {
		n.odd = fmt.Errorf("%.64s: %w", words, errMisnamed)
		return nil
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		n.odd = err
		return nil
	}
	n.name, n.left, n.sum = words[0], size+1, sha1.New() //nolint:gosec // see above
	if len(n.name) == 2*sha256.Size {
		n.sum = sha256.New()
	}
	_, _ = io.WriteString(n.sum, words[1]+" "+words[2]+"\x00")
	return rest
}
