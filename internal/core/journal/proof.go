package journal

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Result is the result of a proof.
type Result string

// The results, as docs/proof.md explains them.
const (
	Proven           Result = "proven"
	NoNewFailingTest Result = "no_new_failing_test"
	DocumentsOnly    Result = "documents_only"
	TestsOnly        Result = "tests_only"
	NeedsReview      Result = "needs_review"
	Failed           Result = "failed"
	Unknown          Result = "unknown"
)

// Text returns the result as people read it.
func (r Result) Text() string {
	text := map[Result]string{
		Proven:           "Proven",
		NoNewFailingTest: "No new failing test",
		DocumentsOnly:    "Documents only",
		TestsOnly:        "Tests only",
		NeedsReview:      "Needs review",
		Failed:           "Failed",
	}[r]
	return cmp.Or(text, "Unknown")
}

// Proof is the result of the checks on clean checkouts: of a story against the head before it, or of the whole change
// against its base branch.
type Proof struct {
	Story  string `json:"story,omitempty"` // empty: the whole change
	Base   string `json:"base"`
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
	Passed bool   `json:"passed"` // no check blocks the commit
	Result Result `json:"result"`
	Why    string `json:"why,omitempty"`
	Reused bool   `json:"reused,omitempty"` // a story's proof shows the whole change, too

	Files        []string `json:"files,omitempty"`          // test files that the change adds or changes, at most 100
	Tests        []string `json:"tests,omitempty"`          // fail on the base code, pass with the change; at most 200
	DoesNotBuild bool     `json:"does_not_build,omitempty"` // they only do not build on the base code
	Restored     []string `json:"restored,omitempty"`       // files that had the base's version, at most 100
	Look         []Look   `json:"look,omitempty"`           // for a person, at most 50
	Untested     []Lines  `json:"untested,omitempty"`       // places that no test needs
	Tried        Tried    `json:"untested_tried,omitzero"`

	// The story may be met already: tests of the base code can show that.
	Idle bool     `json:"idle,omitempty"` // nothing changed for the story
	Held []string `json:"held,omitempty"` // a passing one for each criterion; empty: the story is not met
	CheckRuns

	// The fold sets these.
	Checks Runs  `json:"-"`
	Rules  Rules `json:"-"`
}

// Runs are the results of the checks of a proof.
type Runs struct {
	Base     []CheckEnded // if it is not the run's base
	Head     []CheckEnded
	OldTests []CheckEnded
	NewTests []CheckEnded
	Setup    []SetupEnded
}

// Look is a place that a person should look at.
type Look struct {
	// old_test, vanished_test, check_file, manifest, settings, skipped, asks_for_tests, large or existing_test
	Kind  string   `json:"kind"`
	File  string   `json:"file,omitempty"`  // Path of the file.
	Why   string   `json:"why"`             // Explanation.
	Tests []string `json:"tests,omitempty"` // Names of the tests.
}

// String returns the place and the reason.
func (l Look) String() string { return strings.TrimPrefix(l.File+": "+l.Why, ": ") }

// Lines are lines of a file.
type Lines struct {
	File string `json:"file"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// String returns the lines as compilers do.
func (l Lines) String() string {
	if l.From == l.To {
		return fmt.Sprintf("%s:%d", l.File, l.From)
	}
	return fmt.Sprintf("%s:%d-%d", l.File, l.From, l.To)
}

// Tried counts the places that were reverted to find out whether a test needs them.
type Tried struct {
	ByTest  int `json:"by_test"`  // needed by a test
	ByBuild int `json:"by_build"` // needed by the build only
	Left    int `json:"left,omitempty"`
}

// UntestedText returns how many of the places that were tried a test needs; empty: none was tried.
func UntestedText(untested []Lines, tried Tried) string {
	if len(untested)+tried.ByTest+tried.ByBuild == 0 {
		return ""
	}
	places := fmt.Sprintf("%d places", tried.ByTest)
	if tried.ByTest == 1 {
		places = "1 place"
	}
	text := fmt.Sprintf("%s needed by a test, %d only by the build, %d by nothing",
		places, tried.ByBuild, len(untested))
	if len(untested) > 0 {
		text += ": " + ShortLines(untested)
	}
	if tried.Left > 0 {
		text += fmt.Sprintf("; %d not tried", tried.Left)
	}
	return text
}

// ShortLines joins some places, and says how many more there are.
func ShortLines(places []Lines) string {
	var names []string
	for _, place := range places {
		names = append(names, place.String())
	}
	return ShortList(names)
}

// HowNewTestsFail says how the new tests fail without the change.
func HowNewTestsFail(doesNotBuild bool) string {
	if doesNotBuild {
		return "does not build on the base"
	}
	return "fails without the change"
}

// ProofEnded closes a proof.
type ProofEnded Proof

func (e ProofEnded) fold(r *Run, at time.Time) {
	proof := Proof(e)
	proof.Checks, proof.Rules = r.Proving, rulesOf(r.Policy)
	if old, found := r.proofLike(proof); e.Reused && found {
		proof.Checks = old.Checks
	}
	r.Proving = Runs{}
	r.Proofs = append(r.Proofs, proof)
	for i := r.reopenedAt(e.Story); i < len(r.Iterations); i++ {
		if r.Iterations[i].Story == e.Story {
			r.Iterations[i].Idle = e.Idle
		}
	}
	it := r.updateOpen(at)
	if it == nil {
		return
	}
	it.Proof = &proof
	if len(it.Checks) == 0 { // none ran in the agent's tree
		it.Checks = proof.Checks.Head
	}
}

// proofLike returns a proof of another story with the same commits.
func (r Run) proofLike(p Proof) (Proof, bool) {
	return newest(r.Proofs, func(other Proof) bool {
		return other.Base == p.Base && other.Tree == p.Tree && r.hasRulesOf(other)
	})
}

// hasRulesOf reports whether the rules of a proof are in force.
func (r Run) hasRulesOf(p Proof) bool { return p.Rules.equal(rulesOf(r.Policy)) }

// ProofOf returns the newest proof of a tree by the current rules, of any story.
func (r Run) ProofOf(tree string) (Proof, bool) {
	return newest(r.Proofs, func(p Proof) bool { return tree != "" && p.Tree == tree && r.hasRulesOf(p) })
}

// StoryProof returns the newest proof of a story.
func (r Run) StoryProof(story string) (Proof, bool) {
	return newest(r.Proofs, func(p Proof) bool { return p.Story == story && story != "" })
}

// WholeProof returns the proof of the whole change, if there is one of the newest tree.
func (r Run) WholeProof() (Proof, bool) {
	return newest(r.Proofs, func(p Proof) bool {
		if p.Story != "" || p.Tree != r.Tree || p.Base != r.Base {
			return false
		}
		return r.hasRulesOf(p)
	})
}

// ProvingTests returns the tests, or else the test files, that fail without the change.
func (p Proof) ProvingTests() []string {
	switch {
	case p.Result != Proven:
		return nil
	case len(p.Tests) > 0:
		return p.Tests
	}
	return p.Files
}
