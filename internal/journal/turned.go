package journal

// plus adds the earlier tries of the same iteration, which the model's server rejected.
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

// endPause lets a rejected agent try again at once: a person has resumed the run.
func (it *Iteration) endPause() {
	if it.Agent != nil && it.Agent.Busy {
		it.Turned, it.Paused = 0, true
	}
}
