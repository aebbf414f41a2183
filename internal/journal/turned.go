package journal

// plus is the sum of an agent's try and of those before it that the model's
// server turned away: what they did and used belongs to the iteration, too.
func (a AgentEnded) plus(earlier AgentEnded) AgentEnded {
	a.TookMS += earlier.TookMS
	a.Tools += earlier.Tools
	a.Chores += earlier.Chores
	a.ToolErrors += earlier.ToolErrors
	a.Swept += earlier.Swept
	a.Usage = a.Usage.Plus(earlier.Usage)
	a.Cost = a.Cost.Plus(earlier.Cost)
	return a
}

// endPause lets an agent that was turned away try again at once: a person who
// resumes a run wants to know now.
func (it *Iteration) endPause() {
	if it.Agent != nil && it.Agent.Busy {
		it.Turned, it.Paused = 0, true
	}
}
