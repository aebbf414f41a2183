package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// packEnds are the files of a pack. Without its index it counts for nothing; what
// git keeps besides it can do without.
var packEnds = []string{".pack", ".idx"}

// release packs what made the tip, and nothing else that lies in quarantine, into
// the trusted store. Git puts the index of a pack into place last, so a kill leaves
// a pack that counts or one that does not.
func (q *quarantine) release(ctx context.Context, tip string) error {
	_, err := q.do(ctx, call{
		args:  []string{"pack-objects", "-q", "--revs", filepath.Join(q.Trusted.objects(), "pack", "pack")},
		stdin: strings.NewReader(fmt.Sprintf("%s\n^%s\n^%s\n", tip, q.terms.Base, q.terms.Last)),
	})
	if err != nil {
		return fmt.Errorf("take objects in: %w", err)
	}
	// Nobody else writes here: a lock that is there was left by a kill.
	if err := remove(q.Dir, taken+".lock"); err != nil {
		return err
	}
	return q.set(ctx, taken, tip)
}
