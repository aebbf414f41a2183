package sandbox

import "context"

// Report is what a machine offers, found by doing.
type Report struct {
	Level Level // the strongest that works; None where nothing does
	Flat  bool  // Level does without mounts of its own
	Found []Mechanism
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

// Apply is w at the level that was found.
func (r Report) Apply(w Wall) Wall {
	w.Level, w.Flat = r.Level, r.Flat
	return w
}
