package sandbox

import "context"

// Report is what a machine offers, found by doing.
type Report struct {
	Level Level // the strongest that works; None where nothing does
	Flat  bool  // Level does without mounts of its own
	Found []Mechanism

	HostPIDs bool // Level does without a process namespace
}

// Mechanism is a part of the wall, as a person asks for it.
type Mechanism struct {
	Name   string
	Found  bool
	Detail string // its version, or why it is not there
}

// Probe tries each level with a program that serves and reaches itself, the
// strongest first. base says who is to be inside; its level does not matter.
func Probe(ctx context.Context, base Wall, next Next) Report {
	return probe(ctx, base, next)
}

// Apply is w made in the way that was found to work, at its own level or, for Auto,
// at the strongest.
func (r Report) Apply(w Wall) Wall {
	if w.Level == Auto {
		w.Level = r.Level
	}
	w.Flat = w.Level == Namespace && (r.Level != Namespace || r.Flat)
	w.HostPIDs = w.Level == Namespace && r.HostPIDs
	return w
}
