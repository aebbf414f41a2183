package policy

import "time"

// Preset names a policy: one of the ways in which people loop an agent.
type Preset string

// Done is what has to be for a run to be complete.
type Done string

// A run is complete when every story of its plan passes; when the checks are
// green and the agent answers with the word; or when the checks are green and
// the agent gave the word as its completion tag.
const (
	ByStories  Done = "stories"
	ByResponse Done = "response"
	ByTag      Done = "tag"
)

// The presets.
const (
	Stories    Preset = "stories"    // a PRD, story by story
	Guardrails Preset = "guardrails" // a prompt, until the guardrails pass and the agent answers with the word
	Checked    Preset = "checks"     // a task, until all checks pass and the agent says it is complete
)

// presets is the table of presets: what a run of that name does unless told
// otherwise. No preset has a loop of its own.
var presets = map[Preset]Policy{
	Stories: {
		Preset:   Stories,
		Done:     ByStories,
		Promise:  "COMPLETE",
		Baseline: BaselineStrict,
		Tamper:   TamperReport,
		Excerpt:  Excerpt{Chars: 4000},
		Limits:   usual,
	},
	Guardrails: {
		Preset:  Guardrails,
		Done:    ByResponse,
		Word:    "DONE",
		Excerpt: Excerpt{Chars: 5000, Head: true},
		Limits:  usual,
	},
	Checked: {
		Preset:  Checked,
		Done:    ByTag,
		Word:    "COMPLETE",
		Excerpt: Excerpt{Chars: 2000},
		Limits:  usual.with(25),
	},
	Session: {
		Preset:  Session,
		Done:    ByPromise,
		Word:    "DONE",
		Limits:  Limits{Iterations: 10},
		Session: SessionRules{MinTools: 1, NoWork: NoWorkRejected},
	},
	Supervised: {
		Preset:      Supervised,
		Done:        ByFile,
		Limits:      Limits{Iterations: 100},
		Supervision: Supervision{Delay: Duration(time.Second), Poll: Duration(time.Second), Wait: Duration(5 * time.Minute)},
	},
}

// usual are the limits of a run that nobody thought of: enough for a night's
// work, and an end to what leads nowhere.
var usual = Limits{
	Iterations: 10,
	CostUSD:    5,
	Run:        Duration(2 * time.Hour),
	Iteration:  Duration(time.Hour),
	Idle:       Duration(15 * time.Minute),
	Stall:      3,
	Failures:   3,
}

func (l Limits) with(iterations int) Limits {
	l.Iterations = iterations
	return l
}

// Of is the policy named by preset, with nothing shared with the table.
func Of(preset Preset) Policy { return presets[preset] }
