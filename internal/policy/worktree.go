package policy

// Linked tells of a run that works in a linked worktree: nobody commits what
// the agent of a prompt or a task leaves, so its tree has to stay. A loop over
// stories commits, and leaves a branch.
func (p Policy) Linked() bool { return p.Apart && p.Done != ByStories }

// LongestStep is how long a step of the run may take at most: an agent's turn
// is one, and so are all checks together. 0 is without end.
func (p Policy) LongestStep() Duration {
	turn := p.Limits.Iteration
	if whole := p.Limits.Run; turn == 0 || whole > 0 && whole < turn {
		turn = whole
	}
	if turn == 0 {
		return 0
	}
	var checks Duration
	for _, check := range p.Checks {
		checks += check.Timeout
	}
	return max(turn, checks)
}
