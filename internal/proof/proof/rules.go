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

// testChecks returns the names of the checks that run tests: those that report tests by name, or have a known runner, or that
// the settings name. If there are none, it is the only check. Linters and compilers show nothing about tests.
func (t *trial) testChecks(ctx context.Context) ([]string, error) {
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
	if len(names) == 0 && len(t.run.Policy.Checks) == 1 {
		names = append(names, t.run.Policy.Checks[0].Name)
	}
	return names, nil
}

func (t *trial) runsTests(ctx context.Context, rule policy.Check) (bool, error) {
	before, _ := journal.FindCheck(t.base, rule.Name)
	here, _ := journal.FindCheck(t.head, rule.Name)
	if before.Tests != nil || here.Tests != nil || slices.Contains(t.run.Policy.Tests.Checks, rule.Name) {
		return true, nil
	}
	call, err := t.Call(ctx, t.run, rule.Command)
	return call.RunsTests(), err
}

// place returns a place for the checks that run tests, and those before them. Of some test files, a check runs only these if
// it can.
func (t *trial) place(ctx context.Context, at Place, files []string) (Place, error) {
	names, err := t.testChecks(ctx)
	if err != nil {
		return at, err
	}
	at.Commit, at.Files = t.proof.Commit, map[string][]string{}
	t.tests = names
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
	return slices.DeleteFunc(checks, func(check journal.CheckEnded) bool { return !slices.Contains(t.tests, check.Name) })
}

// inSubfolder returns files by their names in the folder in which the checks run, if all are there.
func (t *trial) inSubfolder(files []string) (names []string, ok bool) {
	folder := t.run.Policy.Subfolder
	for _, file := range files {
		name := file
		if folder != "" && folder != "." {
			if name, ok = strings.CutPrefix(file, strings.TrimSuffix(folder, "/")+"/"); !ok {
				return nil, false
			}
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
	was := func(file File) bool { return file.Was }
	if len(t.change.paths(Support, was)) == 0 {
		files = t.change.paths(Test, was)
	}
	at, err := t.place(ctx, Place{Where: journal.AtOldTests, Stand: t.change.OldTests}, files)
	if err != nil {
		return err
	}
	seen, err := t.repeated(ctx, t.run, at, t.blocks, t.count)
	if err != nil {
		return err
	}
	t.old = t.ofTests(seen.Checks)
	why, failing := seen.Unready, []string(nil)
	for _, check := range t.old {
		if verdict.Blocks(t.run.Policy, t.base, check) {
			why, failing = cmp.Or(why, t.failure(check)), append(failing, t.newFailures(check)...)
		}
	}
	if why == "" {
		return nil
	}
	t.needsReview(journal.Look{Kind: "old_test", Why: "the tests of the base fail on the new code: " + why, Tests: failing})
	return nil
}

// needsReview ends the proof, unless people allowed that existing tests change.
func (t *trial) needsReview(place journal.Look) {
	t.addLook(place)
	if !verdict.MayChangeTests(t.run, t.proof.Story) {
		t.end(journal.NeedsReview, place.Why)
	}
}

// findVanished finds tests that passed at the base, and run neither with the change nor as old tests on the new code.
func (t *trial) findVanished() error {
	var gone []string
	for _, before := range t.base {
		here, ran := journal.FindCheck(t.head, before.Name)
		if !ran || here.Skipped != "" || before.Tests == nil {
			continue
		}
		old, _ := journal.FindCheck(t.old, before.Name)
		names, err := t.functions(before, results.Passed)
		if err != nil {
			return err
		}
		now, err := t.functions(here, results.Passed, results.Failed, results.Broken, results.Skipped)
		if err != nil {
			return err
		}
		onNew, err := t.functions(old, results.Passed)
		if err != nil {
			return err
		}
		for name := range names {
			if !now[name] && !onNew[name] {
				gone = append(gone, name)
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	t.needsReview(journal.Look{Kind: "vanished_test", Why: "tests that passed no longer run: " + journal.ShortList(gone), Tests: gone})
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

// runNewTests runs the change's tests on the base code, where they must fail. Tests that were red there before count, too, if
// they pass now.
func (t *trial) runNewTests(ctx context.Context) error {
	if err := t.findFixed(); err != nil {
		return err
	}
	is := func(file File) bool { return file.Is }
	t.proof.Files = first(mostFiles, t.change.paths(Test, is))
	if t.change.NewTests == "" {
		t.conclude("no test is added or changed")
		return nil
	}
	at := Place{Where: journal.AtNewTests, Stand: t.change.NewTests}
	if len(t.run.Policy.Setup) > 0 {
		at.Stand, at.Late = t.change.Setup, t.change.NewTests
	}
	at, err := t.place(ctx, at, t.change.paths(Test, is))
	if err != nil {
		return err
	}
	if len(t.tests) == 0 {
		t.conclude("no check is known to run tests: name one in the setting tests.checks")
		return nil
	}
	seen, err := t.repeated(ctx, t.run, at, t.mayBeChance, t.count)
	if err != nil {
		return err
	}
	t.fresh = t.ofTests(seen.Checks)
	if seen.Unready != "" {
		t.conclude("on the base code with the change's manifests, " + seen.Unready)
		return nil
	}
	why := "the new tests pass without the change"
	unnamed := false
	for _, check := range t.fresh {
		names, ok, err := t.turned(check)
		if err != nil {
			return err
		}
		if check.Passed || check.Skipped != "" {
			continue
		}
		if !ok {
			why = t.whyNotTurned(check)
		}
		t.proof.Tests = append(t.proof.Tests, names...)
		unnamed = unnamed || ok && len(names) == 0
	}
	if unnamed {
		t.end(journal.Proven, "")
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

// findFixed adds the tests that failed at the base, twice, and pass with the change: also as they were, if they were changed.
func (t *trial) findFixed() error {
	for _, before := range t.base {
		here, found := journal.FindCheck(t.head, before.Name)
		if before.Passed || !found || t.run.Policy.CheckNamed(before.Name).Added {
			continue
		}
		now, err := t.Results(here)
		if err != nil {
			return err
		}
		old, _ := journal.FindCheck(t.old, before.Name)
		for _, name := range before.Tests.Failing() {
			if now.Of(name) == results.Passed && !slices.Contains(old.Tests.Failing(), name) {
				t.proof.Tests = append(t.proof.Tests, name)
			}
		}
	}
	return nil
}

// mayBeChance reports whether a failure of the new tests on the base code may be chance: all that fails was seen to pass.
func (t *trial) mayBeChance(check journal.CheckEnded) bool {
	if check.Passed || check.Skipped != "" {
		return false
	}
	before, _ := journal.FindCheck(t.base, check.Name)
	passed, err := t.Results(before)
	if err != nil {
		return true
	}
	for _, name := range t.newFailures(check) {
		if passed.Of(name) != results.Passed {
			return false
		}
	}
	return true
}

// turned returns the tests of a check that fail on the base code and pass with the change. If the check reports no names, its
// exit code decides.
func (t *trial) turned(check journal.CheckEnded) (names []string, ok bool, err error) {
	before, _ := journal.FindCheck(t.base, check.Name)
	here, found := journal.FindCheck(t.head, check.Name)
	if check.Passed || check.CannotRun || !found {
		return nil, false, nil
	}
	now, err := t.Results(here)
	if err != nil {
		return nil, false, err
	}
	failing := t.newFailures(check)
	if len(failing) == 0 || now.Len() == 0 {
		return nil, before.Passed && here.Passed, nil
	}
	known, err := t.Results(before)
	if err != nil {
		return nil, false, err
	}
	broken, unknown := 0, 0
	for _, name := range failing {
		if now.Of(name) == results.Passed {
			names = append(names, name)
			continue
		}
		if check.Tests != nil && slices.Contains(check.Tests.Broken, name) {
			broken++
			names = append(names, testsWithin(name, known, now)...)
			if !hasTests(name, now) {
				unknown++
			}
		}
	}
	t.proof.DoesNotBuild = broken > 0 && broken == len(failing)
	// A file of JavaScript that does not load has a name that its tests do not have: the exit codes decide.
	byExit := unknown == len(failing) && before.Passed && here.Passed
	return names, len(names) > 0 || byExit, nil
}

// whyNotTurned returns why a check that fails on the base code shows nothing.
func (t *trial) whyNotTurned(check journal.CheckEnded) string {
	before, _ := journal.FindCheck(t.base, check.Name)
	here, _ := journal.FindCheck(t.head, check.Name)
	if here.Passed && !before.Passed {
		return check.Name + " failed before the change, too, and names no tests"
	}
	return "the new tests fail on the base code, and do not pass with the change"
}

// hasTests reports whether some results are of a test, or of tests of a group.
func hasTests(name string, reported results.Results) bool {
	all := reported.Names(results.Passed, results.Failed, results.Skipped, results.Broken)
	return slices.ContainsFunc(all, func(one string) bool { return strings.HasPrefix(one, name) })
}

// testsWithin returns the tests of a group that pass now and did not exist before, where the group does not build on the base.
func testsWithin(group string, before, now results.Results) (names []string) {
	for _, name := range now.Names(results.Passed) {
		rest, ok := strings.CutPrefix(name, group)
		if ok && rest != "" && before.Of(name) == results.Absent {
			names = append(names, name)
		}
	}
	return names
}
