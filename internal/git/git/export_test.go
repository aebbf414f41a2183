package git

import "context"

// StatusOf parses a status, and returns the number of changed paths and whether
// one of them is work.
func StatusOf(ctx context.Context, do Runner) (entries int, dirty bool, err error) {
	s, _, err := readStatus(ctx, do)
	if err != nil {
		return 0, false, err
	}
	return len(s.found), s.Dirty, nil
}

// CommitAll commits the whole working tree.
func (s *Inspection) CommitAll(ctx context.Context, m Message) (string, error) {
	tree, err := s.Work(ctx)
	if err != nil {
		return "", err
	}
	return s.CommitSnapshot(ctx, tree, m)
}
