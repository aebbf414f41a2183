package git

import "context"

// StatusOf reads what git says of a tree: how many paths are not as they were committed,
// and whether one of them counts as work.
func StatusOf(ctx context.Context, do Runner) (entries int, dirty bool, err error) {
	s, _, err := readStatus(ctx, do)
	if err != nil {
		return 0, false, err
	}
	return len(s.found), s.Dirty, nil
}
