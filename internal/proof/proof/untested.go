package proof

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// Which changed lines does no test need? Each changed place of the product is reverted alone, and the tests concerned
// run. If they pass, no test needs the place.

// place is a changed place, and how its file looks without it.
type place struct {
	journal.Lines

	size  int
	text  []byte // of its file, with the change
	edits []edit // take the place away
	stub  []edit // have added functions return nothing, as the build may need them; may be nil
	inner bool   // a block within a larger place
}

const (
	defaultPlaces = 12
	largePlace    = 10 // lines: also tried block by block
	leastTime     = 2 * time.Second
)

// findUntested tries the places, the largest first, within the limits.
func (t *trial) findUntested(ctx context.Context) error {
	if !t.headPasses || t.proof.Result == journal.Unknown {
		return nil
	}
	isWholeOfStories := t.proof.Story == "" && len(t.run.Iterations) > 0 // each story has its own
	if isWholeOfStories || t.run.Policy.Untested.Do == policy.UntestedOff {
		return nil
	}
	names, err := t.findTestChecks(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	all, err := t.places(ctx)
	if err != nil {
		return err
	}
	u := untested{trial: t, places: all, left: t.run.Policy.Untested.Max}
	if u.left == 0 {
		u.left = defaultPlaces
		u.limit = t.suiteTime()
	}
	survivors, err := u.tryEach(ctx)
	if err != nil {
		return err
	}
	found, err := u.confirm(ctx, survivors)
	if err != nil {
		return err
	}
	for _, survivor := range found {
		t.proof.Untested = append(t.proof.Untested, survivor.Lines)
	}
	t.proof.Tried = u.tried
	return nil
}

// suiteTime returns how long the checks took with the change.
func (t *trial) suiteTime() time.Duration {
	total := time.Duration(0)
	for _, check := range t.headChecks {
		total += check.Took()
	}
	return max(total, leastTime)
}

// untested is a search under way.
type untested struct {
	*trial

	places  []place
	left    int           // places to try
	limit   time.Duration // of all runs; 0: none, as the settings name a number of places
	spent   time.Duration // on setup and checks
	last    time.Duration // on the last run
	whole   bool          // all tests run, on clean checkouts
	number  int           // of runs
	tried   journal.Tried
	covered []journal.Lines // places that no test needs: blocks within them are not tried
}

// fits reports whether there is time for another run, if it takes as long as the last one. The first one always runs.
func (u *untested) fits() bool {
	return u.limit == 0 || u.number == 0 || u.spent+u.last <= u.limit
}

// outcome says what needs a place.
type outcome int

const (
	byNothing outcome = iota
	byTest
	byBuild
)

// tryEach returns the places without which the tests concerned pass.
func (u *untested) tryEach(ctx context.Context) ([]place, error) {
	var survivors []place
	for _, candidate := range u.places {
		if u.left == 0 || !u.fits() {
			u.tried.Left++
			continue
		}
		if candidate.inner && u.isCovered(candidate.Lines) {
			continue
		}
		needed, without, err := u.try(ctx, candidate, u.concerned(candidate.File))
		if err != nil {
			return nil, err
		}
		switch {
		case needed == byNothing:
			survivors = append(survivors, without)
			u.covered = append(u.covered, candidate.Lines)
		case candidate.inner: // it only refines a place that counts already
		case needed == byTest:
			u.tried.ByTest++
		default:
			u.tried.ByBuild++
		}
		if !candidate.inner {
			u.left--
		}
	}
	return survivors, nil
}

func (u *untested) isCovered(lines journal.Lines) bool {
	return slices.ContainsFunc(u.covered, func(c journal.Lines) bool {
		return c.File == lines.File && c.From <= lines.From && lines.To <= c.To
	})
}

// confirm runs all tests on clean checkouts without the survivors, together and then one by one if that fails and there
// is time. A build in the shared checkout can have used what an earlier place left.
func (u *untested) confirm(ctx context.Context, survivors []place) ([]place, error) {
	if len(survivors) == 0 {
		return nil, nil
	}
	u.whole = true
	needed, err := u.runWithout(ctx, survivors, nil)
	if err != nil || needed == byNothing {
		return survivors, err
	}
	if len(survivors) == 1 {
		u.tried.ByTest++
		return nil, nil
	}
	var found []place
	for _, survivor := range survivors {
		if !u.fits() {
			u.tried.Left++
			continue
		}
		needed, err := u.runWithout(ctx, []place{survivor}, nil)
		if err != nil {
			return nil, err
		}
		if needed == byNothing {
			found = append(found, survivor)
			continue
		}
		u.tried.ByTest++
	}
	return found, nil
}

// textsWithout returns the files without some places.
func textsWithout(places []place) map[string][]byte {
	texts := map[string][]byte{}
	edits := map[string][]edit{}
	for _, p := range places {
		texts[p.File] = p.text
		edits[p.File] = append(edits[p.File], p.edits...)
	}
	for file, text := range texts {
		texts[file] = edited(text, edits[file])
	}
	return texts
}

// try runs the tests of some files without a place. It returns the place with the edits that no test needs, if there
// are such. Tests mostly need an added function, and the build needs its name: so it is tried as a stub first.
func (u *untested) try(ctx context.Context, candidate place, files []string) (outcome, place, error) {
	stubbed := candidate
	stubbed.edits = candidate.stub
	stubNeeded := byBuild
	if candidate.stub != nil {
		var err error
		stubNeeded, err = u.runWithout(ctx, []place{stubbed}, files)
		if err != nil || stubNeeded == byTest {
			return stubNeeded, candidate, err
		}
	}
	needed, err := u.runWithout(ctx, []place{candidate}, files)
	if err != nil || needed != byBuild {
		return needed, candidate, err
	}
	return stubNeeded, stubbed, nil
}

// concerned returns the test files that concern a file: those that the change adds or changes, and for Go its
// package's.
func (u *untested) concerned(file string) []string {
	files := u.change.paths(Test, File.isAtHead)
	if path.Ext(file) == ".go" {
		files = append(files, path.Join(path.Dir(file), "any_test.go"))
	}
	return files
}

// runWithout runs the tests of some files, or all tests, on the head without some places. It returns what fails.
func (u *untested) runWithout(ctx context.Context, places []place, files []string) (outcome, error) {
	commit, err := u.With(ctx, u.change.Head, textsWithout(places))
	if err != nil {
		return byTest, err
	}
	u.number++
	at := Place{
		Where:    journal.AtTrial,
		Checkout: commit,
		Same:     u.number > 1 && !u.whole,
		Number:   u.number,
	}
	at, err = u.place(ctx, at, files)
	if err != nil {
		return byTest, err
	}
	before := u.spent
	seen, err := u.Run(ctx, u.run, at, u.spend)
	u.last = u.spent - before
	if err != nil {
		return byTest, err
	}
	if seen.Unready != "" {
		return byBuild, nil
	}
	needed := byNothing
	for _, check := range u.ofTests(seen.Checks) {
		found, err := u.outcomeOf(check)
		if err != nil || found == byTest {
			return byTest, err
		}
		if found == byBuild {
			needed = byBuild
		}
	}
	return needed, nil
}

// spend counts the time of a run.
func (u *untested) spend(event journal.Event) {
	switch e := event.(type) { //nolint:gochecksumtype // others take no time
	case journal.SetupEnded:
		u.spent += journal.CheckEnded(e).Took()
	case journal.CheckEnded:
		u.spent += e.Took()
	}
	u.countOnly(event)
}

// outcomeOf returns what fails in a check, without what fails with the whole change, too. Where the head has no tests
// by name, every failure of a check that passes there counts as that of a test.
func (u *untested) outcomeOf(check journal.CheckEnded) (outcome, error) {
	headCheck, _ := journal.FindCheck(u.headChecks, check.Name)
	if check.Passed || check.Skipped != "" {
		return byNothing, nil
	}
	if headCheck.Tests == nil {
		if headCheck.Passed {
			return byTest, nil
		}
		return byNothing, nil
	}
	headTests, err := u.Results(headCheck)
	if err != nil {
		return byTest, err
	}
	failing := check.Tests.Failing()
	known := headCheck.Tests.Failing()
	if len(failing) == 0 {
		return byBuild, nil
	}
	found := byNothing
	for _, name := range failing {
		if headTests.Of(name) == results.Passed {
			return byTest, nil
		}
		if !slices.Contains(known, name) {
			found = byBuild
		}
	}
	return found, nil
}

// places returns the changed places of the product, the largest first, with the blocks of large ones after them.
func (t *trial) places(ctx context.Context) ([]place, error) {
	var all []place
	removed := t.removedLines()
	for _, hunk := range t.change.Hunks {
		if !t.isProduct(hunk.File) {
			continue
		}
		text, err := t.Text(ctx, t.change.Head, hunk.File)
		if err != nil {
			return nil, err
		}
		hunk = withoutTests(hunk, text)
		if isComment(hunk) || isMoved(hunk, removed) {
			continue
		}
		all = append(all, placesOf(hunk, text)...)
	}
	slices.SortStableFunc(all, func(a, b place) int {
		switch {
		case a.inner == b.inner:
			return b.size - a.size
		case a.inner:
			return 1
		}
		return -1
	})
	return all, nil
}

// testModule matches the beginning of the module of tests in a file of Rust, which is at its end.
var testModule = pattern.Of(`(?m)^[ \t]*#\[cfg\(test\)\]\s*mod `)

// withoutTests returns a hunk without the lines in its file's module of tests.
func withoutTests(hunk Hunk, text []byte) Hunk {
	found := testModule.FindStringSubmatchIndex(string(text))
	if path.Ext(hunk.File) != ".rs" || found == nil {
		return hunk
	}
	before := bytes.Count(text[:found[0]], []byte("\n")) - (hunk.From - 1)
	if before <= 0 {
		return Hunk{}
	}
	hunk.New = hunk.New[:min(before, len(hunk.New))]
	return hunk
}

func (t *trial) isProduct(name string) bool {
	return slices.Contains(t.change.paths(Product, File.isAtHead), name)
}

// removedLines returns the lines that the change removes somewhere.
func (t *trial) removedLines() map[string]bool {
	removed := map[string]bool{}
	for _, hunk := range t.change.Hunks {
		for _, line := range hunk.Old {
			removed[strings.TrimSpace(line)] = true
		}
	}
	return removed
}

// isMoved reports whether a hunk only adds lines that were removed elsewhere.
func isMoved(hunk Hunk, removed map[string]bool) bool {
	if len(hunk.Old) > 0 || len(hunk.New) == 0 {
		return false
	}
	for _, line := range hunk.New {
		text := strings.TrimSpace(line)
		if text != "" && !removed[text] {
			return false
		}
	}
	return true
}

var commentLine = pattern.Of(`^\s*(//|#|/?\*|--|;|<!--|"""|'''|$)`)

// isComment reports whether a hunk has only comments and blank lines.
func isComment(hunk Hunk) bool {
	for _, line := range slices.Concat(hunk.Old, hunk.New) {
		if !commentLine.MatchString(line) {
			return false
		}
	}
	return true
}

// placesOf returns a hunk as a place, and its blocks if it is large.
func placesOf(hunk Hunk, text []byte) []place {
	lines := bytes.SplitAfter(text, []byte("\n"))
	from := hunk.From - 1
	to := from + len(hunk.New)
	if from < 0 || to > len(lines) {
		return nil
	}
	spans := []block{{from, to}}
	outer := outerBlocks(lines, from, to)
	if len(hunk.Old) == 0 && len(outer) > 1 { // such as several functions
		spans = outer
	}
	old := ""
	if len(hunk.Old) > 0 {
		old = strings.Join(hunk.Old, "\n") + "\n"
	}
	var all []place
	for _, span := range spans {
		whole := place{
			Lines: linesOf(hunk.File, span),
			size:  span.to - span.from + len(hunk.Old),
			text:  text,
			edits: []edit{{span.from, span.to, old}},
		}
		if len(hunk.Old) == 0 {
			whole.stub = stubs(hunk.File, lines, span)
		}
		all = append(all, whole)
		if span.to-span.from <= largePlace {
			continue
		}
		for _, b := range innerBlocks(lines, span.from, span.to) {
			all = append(all, place{
				Lines: linesOf(hunk.File, b),
				size:  b.to - b.from,
				text:  text,
				edits: []edit{{b.from, b.to, ""}},
				inner: true,
			})
		}
	}
	return all
}

func linesOf(file string, b block) journal.Lines {
	return journal.Lines{File: file, From: b.from + 1, To: max(b.to, b.from+1)}
}

// edit replaces some lines, from 0 and without the end, by a text.
type edit struct {
	from, to int
	by       string
}

// edited returns a text after edits, which can overlap: in odd files, blocks do.
func edited(text []byte, edits []edit) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, bytes.Join(lines[at:max(at, e.from)], nil)...)
		out = append(out, e.by...)
		at = max(at, e.to)
	}
	return append(out, bytes.Join(lines[at:], nil)...)
}
