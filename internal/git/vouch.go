package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is what git names objects by
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Vouch is a fault where something that these commits hold is not what its name
// says. Who can write to a store can put another content where an object was:
// git reads it without a look, and shows no change.
func (t *Trusted) Vouch(ctx context.Context, commits ...string) error {
	if err := CheckSHA(commits...); err != nil {
		return err
	}
	out, err := t.Do(ctx, Call{Args: append([]string{"rev-list", "--objects", "--no-walk", "--no-object-names"}, commits...), Limit: noEnd, Timeout: farther})
	names := strings.Fields(string(out))
	if err == nil {
		err = named(ctx, t.Do, names)
	}
	if err == nil {
		err = t.namedEverywhere(ctx, names)
	}
	if failed, said := Answered(err); said && !failed.TimedOut || errors.Is(err, errMisnamed) || errors.Is(err, errMissing) {
		return fault.Usage("an object in the repository's store is not what it was: "+err.Error(), "git fsck shows which; a fresh clone has them all", nil)
	}
	return err
}

const noEnd = 1 << 50

// named is an error where what git reads of one of these is not what its name says.
func named(ctx context.Context, do Runner, names []string) error {
	return CatFile(ctx, do, Call{Limit: noEnd, Timeout: farther}, names, func(o Object) error {
		sum := sha1.New() //nolint:gosec // see above
		if len(o.ID) == 2*sha256.Size {
			sum = sha256.New()
		}
		fmt.Fprintf(sum, "%s %d\x00", o.Kind, o.Size)
		if _, err := io.Copy(sum, o.Content); err != nil {
			return err
		}
		if fmt.Sprintf("%x", sum.Sum(nil)) != o.ID {
			return fmt.Errorf("%s: %w", o.ID, errMisnamed)
		}
		return nil
	})
}

var errMisnamed = errors.New("its content has another name")
