package proof

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// findTestChecks returns the names of the checks that run tests: those that report tests by name, or have a known
// runner, or that the settings name. If there are none, it is the only check, but for linters and compilers: these show
// nothing about tests.
func (t *trial) findTestChecks(ctx context.Context) ([]string, error) {
	var names []string
	for _, rule := range t.run.Policy.Checks {
		runs, err := t.runsTests(ctx, rule)
		if err != nil {
			return nil, err
		}
		if runs && !rule.Added {
			names = append(names, rule.Name)
		}
	}
	if len(names) > 0 || len(t.run.Policy.Checks) != 1 {
		return names, nil
	}
	only := t.run.Policy.Checks[0]
	call, err := t.Call(ctx, t.run, only.Command)
	if err != nil || call.RunsNoTests() {
		return nil, err
	}
	return []string{only.Name}, nil
}

func (t *trial) runsTests(ctx context.Context, rule policy.Check) (bool, error) {
	baseCheck, _ := journal.FindCheck(t.baseChecks, rule.Name)
	headCheck, _ := journal.FindCheck(t.headChecks, rule.Name)
	if baseCheck.Tests != nil || headCheck.Tests != nil {
		return true, nil
	}
	if slices.Contains(t.run.Policy.Tests.Checks, rule.Name) {
		return true, nil
	}
	call, err := t.Call(ctx, t.run, rule.Command)
	return call.RunsTests(), err
}

// place returns a place for the checks that run tests, and those before them. Of some test files, a check runs only
// these if it can.
func (t *trial) place(ctx context.Context, at Place, files []string) (Place, error) {
	names, err := t.findTestChecks(ctx)
	if err != nil {
		return at, err
	}
	t.testChecks = names
	at.Commit = t.proof.Commit
	at.Files = map[string][]string{}
	at.Only = orLater(t.run.Policy.Checks, func(name string) bool { return slices.Contains(names, name) })
	inFolder, ok := t.inSubfolder(files)
	if !ok {
		return at, nil
	}
	for _, name := range names {
		call, err := t.Call(ctx, t.run, t.run.Policy.CheckNamed(name).Command)
		if err != nil {
			return at, err
		}
		if call.CanSelect(inFolder) {
			at.Files[name] = inFolder
		}
	}
	return at, nil
}

// orLater reports whether a check or one after it is wanted: that may need what an earlier one builds.
func orLater(rules []policy.Check, wanted func(name string) bool) func(name string) bool {
	return func(name string) bool {
		at := slices.IndexFunc(rules, func(rule policy.Check) bool { return rule.Name == name })
		return slices.ContainsFunc(rules[max(at, 0):], func(rule policy.Check) bool { return wanted(rule.Name) })
	}
}

// ofTests returns the checks that run tests.
func (t *trial) ofTests(checks []journal.CheckEnded) []journal.CheckEnded {
	var found []journal.CheckEnded
	for _, check := range checks {
		if slices.Contains(t.testChecks, check.Name) {
			found = append(found, check)
		}
	}
	return found
}

// inSubfolder returns files by their names in the folder in which the checks run, if all are there.
func (t *trial) inSubfolder(files []string) ([]string, bool) {
	folder := t.run.Policy.Subfolder
	if folder == "" || folder == "." {
		return files, true
	}
	var names []string
	for _, file := range files {
		name, ok := strings.CutPrefix(file, strings.TrimSuffix(folder, "/")+"/")
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// runOldTests runs the base's tests on the new code.
func (t *trial) runOldTests(ctx context.Context) error {
	if t.change.OldTests == "" {
		return nil
	}
	var files []string // a changed helper concerns all tests
	if len(t.change.paths(Support, File.isAtBase)) == 0 {
		files = t.change.paths(Test, File.isAtBase)
	}
	at, err := t.place(ctx, Place{Where: journal.AtOldTests, Checkout: t.change.OldTests}, files)
	if err != nil {
		return err
	}
	seen, err := t.repeated(ctx, t.run, at, t.blocks, t.count)
	if err != nil {
		return err
	}
	t.oldTestChecks = t.ofTests(seen.Checks)
	why := seen.Unready
	var failing []string
	for _, check := range t.oldTestChecks {
		if verdict.Blocks(t.run.Policy, t.baseChecks, check) {
			why = cmp.Or(why, t.failure(check))
			failing = append(failing, t.newFailures(check)...)
		}
	}
	if why == "" {
		return nil
	}
	t.needsReview(journal.Look{
		Kind:  "old_test",
		Why:   "the tests of the base fail on the new code: " + why,
		Tests: failing,
	})
	return nil
}

// needsReview ends the proof, unless people allowed that existing tests change.
func (t *trial) needsReview(place journal.Look) {
	t.addLook(place)
	if !verdict.MayChangeTests(t.run, t.proof.Story) {
		t.end(journal.NeedsReview, place.Why)
	}
}

// findVanished finds tests that passed at the base, and run neither with the change nor as old tests on the new code. A
// test that is skipped does not run.
func (t *trial) findVanished() error {
	var vanished []string
	for _, baseCheck := range t.baseChecks {
		headCheck, ran := journal.FindCheck(t.headChecks, baseCheck.Name)
		if !ran || headCheck.Skipped != "" || baseCheck.Tests == nil {
			continue
		}
		oldTestCheck, _ := journal.FindCheck(t.oldTestChecks, baseCheck.Name)
		passedAtBase, err := t.functions(baseCheck, results.Passed)
		if err != nil {
			return err
		}
		atHead, err := t.functions(headCheck, results.Passed, results.Failed, results.Broken)
		if err != nil {
			return err
		}
		passedOnNewCode, err := t.functions(oldTestCheck, results.Passed)
		if err != nil {
			return err
		}
		for name := range passedAtBase {
			if !atHead[name] && !passedOnNewCode[name] {
				vanished = append(vanished, name)
			}
		}
	}
	if len(vanished) == 0 {
		return nil
	}
	slices.Sort(vanished)
	t.needsReview(journal.Look{
		Kind:  "vanished_test",
		Why:   "tests that passed no longer run: " + journal.ShortList(vanished),
		Tests: vanished,
	})
	return nil
}

// functions returns the tests of a check with some outcomes, without their cases.
func (t *trial) functions(check journal.CheckEnded, outcomes ...results.Outcome) (map[string]bool, error) {
	reported, err := t.Results(check)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, name := range reported.Names(outcomes...) {
		names[results.Function(name)] = true
	}
	return names, nil
}

// runNewTests runs the change's tests on the base code, where they must fail. Tests that were red there before count,
// too, if they pass now.
func (t *trial) runNewTests(ctx context.Context) error {
	if err := t.findFixed(ctx); err != nil {
		return err
	}
	files := t.change.paths(Test, File.isAtHead)
	t.proof.Files = first(mostFiles, files)
	if t.change.NewTests == "" {
		t.conclude("no test is added or changed")
		return nil
	}
	at := Place{Where: journal.AtNewTests, Checkout: t.change.NewTests}
	if len(t.run.Policy.Setup) > 0 {
		at.Checkout = t.change.Setup
		at.AfterSetup = t.change.NewTests
	}
	at, err := t.place(ctx, at, files)
	if err != nil {
		return err
	}
	if len(t.testChecks) == 0 {
		t.conclude("no check is known to run tests: name one in the setting tests.checks")
		return nil
	}
	seen, err := t.repeated(ctx, t.run, at, t.mayBeChance, t.count)
	if err != nil {
		return err
	}
	t.newTestChecks = t.ofTests(seen.Checks)
	if seen.Unready != "" {
		t.conclude("on the base code with the change's manifests, " + seen.Unready)
		return nil
	}
	return t.sumUpNewTests()
}

// sumUpNewTests ends the proof by the results of the change's tests on the base code.
func (t *trial) sumUpNewTests() error {
	why := "the new tests pass without the change"
	for _, check := range t.newTestChecks {
		if check.Passed || check.Skipped != "" {
			continue
		}
		names, ok, err := t.turned(check)
		if err != nil {
			return err
		}
		if !ok {
			why = t.whyNotTurned(check)
			continue
		}
		if len(names) == 0 { // the exit code shows it
			t.end(journal.Proven, "")
		}
		t.proof.Tests = append(t.proof.Tests, names...)
	}
	t.conclude(why)
	return nil
}

// conclude ends the proof by the tests that fail without the change.
func (t *trial) conclude(why string) {
	slices.Sort(t.proof.Tests)
	t.proof.Tests = first(mostNames, slices.Compact(t.proof.Tests))
	switch {
	case len(t.proof.Tests) > 0:
		t.end(journal.Proven, "")
	case t.proof.Result == "":
		t.end(journal.NoNewFailingTest, why)
	}
}

// findFixed adds the tests that failed at the base, twice, and pass with the change, also as they were. They have to
// fail at the base once more: on a busy machine a test may fail twice by chance.
func (t *trial) findFixed(ctx context.Context) error {
	fixed, err := t.fixedTests()
	if err != nil || len(fixed) == 0 {
		return err
	}
	at := Place{Where: journal.AtTrial, Commit: t.proof.Commit, Checkout: t.proof.Base}
	again, err := t.Run(ctx, t.run, at, t.countOnly)
	if err != nil {
		return err
	}
	for _, check := range again.Checks {
		for _, name := range check.Tests.Failing() {
			if slices.Contains(fixed, name) {
				t.proof.Tests = append(t.proof.Tests, name)
			}
		}
	}
	return nil
}

func (t *trial) fixedTests() (fixed []string, err error) {
	for _, baseCheck := range t.baseChecks {
		headCheck, found := journal.FindCheck(t.headChecks, baseCheck.Name)
		if baseCheck.Passed || !found || t.run.Policy.CheckNamed(baseCheck.Name).Added {
			continue
		}
		headTests, err := t.Results(headCheck)
		if err != nil {
			return nil, err
		}
		oldTestCheck, _ := journal.FindCheck(t.oldTestChecks, baseCheck.Name)
		for _, name := range baseCheck.Tests.Failing() {
			if headTests.Of(name) == results.Passed && !slices.Contains(oldTestCheck.Tests.Failing(), name) {
				fixed = append(fixed, name)
			}
		}
	}
	return fixed, nil
}

// mayBeChance reports whether a failure of the new tests on the base code may be chance: all that fails was seen to
// pass.
func (t *trial) mayBeChance(check journal.CheckEnded) bool {
	if check.Passed || check.Skipped != "" {
		return false
	}
	baseCheck, _ := journal.FindCheck(t.baseChecks, check.Name)
	baseTests, err := t.Results(baseCheck)
	if err != nil {
		return true
	}
	for _, name := range t.newFailures(check) {
		if baseTests.Of(name) != results.Passed {
			return false
		}
	}
	return true
}

// turned returns the tests of a check that fail on the base code and pass with the change, and reports whether it shows
// that the change is needed. If the check reports no names, its exit code decides.
func (t *trial) turned(check journal.CheckEnded) ([]string, bool, error) {
	baseCheck, _ := journal.FindCheck(t.baseChecks, check.Name)
	headCheck, found := journal.FindCheck(t.headChecks, check.Name)
	if check.CannotRun || !found {
		return nil, false, nil
	}
	passedBefore := baseCheck.Passed && headCheck.Passed
	headTests, err := t.Results(headCheck)
	if err != nil {
		return nil, false, err
	}
	failing := t.newFailures(check)
	if len(failing) == 0 || headTests.Len() == 0 {
		return nil, passedBefore, nil
	}
	baseTests, err := t.Results(baseCheck)
	if err != nil {
		return nil, false, err
	}
	var names []string
	broken := 0
	unnamed := 0 // broken ones of which the head has no test
	for _, name := range failing {
		if headTests.Of(name) == results.Passed {
			names = append(names, name)
			continue
		}
		if check.Tests == nil || !slices.Contains(check.Tests.Broken, name) {
			continue
		}
		broken++
		names = append(names, testsWithin(name, baseTests, headTests)...)
		if !hasTests(name, headTests) {
			unnamed++
		}
	}
	t.proof.DoesNotBuild = broken > 0 && broken == len(failing)
	if len(names) > 0 {
		return names, true, nil
	}
	// A file of JavaScript that does not load has a name that its tests do not have: the exit codes decide.
	return nil, unnamed == len(failing) && passedBefore, nil
}

// whyNotTurned returns why a check that fails on the base code shows nothing.
func (t *trial) whyNotTurned(check journal.CheckEnded) string {
	baseCheck, _ := journal.FindCheck(t.baseChecks, check.Name)
	headCheck, _ := journal.FindCheck(t.headChecks, check.Name)
	if headCheck.Passed && !baseCheck.Passed {
		return check.Name + " failed before the change, too, and names no tests"
	}
	return "the new tests fail on the base code, and do not pass with the change"
}

// hasTests reports whether some results are of a test, or of tests of a group.
func hasTests(group string, reported results.Results) bool {
	all := reported.Names(results.Passed, results.Failed, results.Skipped, results.Broken)
	return slices.ContainsFunc(all, func(name string) bool { return strings.HasPrefix(name, group) })
}

// testsWithin returns the tests of a group that pass at the head and did not exist at the base, where the group does
// not build.
func testsWithin(group string, baseTests, headTests results.Results) []string {
	var names []string
	for _, name := range headTests.Names(results.Passed) {
		rest, ok := strings.CutPrefix(name, group)
		if ok && rest != "" && baseTests.Of(name) == results.Absent {
			names = append(names, name)
		}
	}
	return names
}
