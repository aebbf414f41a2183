package proof_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// narrowed grades a story whose test is new, and gives the commands of its runs on
// the base code and on its own; empty for the check's own. says is what they say.
func narrowed(t *testing.T, command, runner, within string, files []string, alone string, says func(at proof.Place) journal.CheckEnded) (commands []string, grade journal.StoryGraded) {
	t.Helper()
	base, here := told(runner, 1), told(runner, 2)
	base.Command, here.Command = command, command
	run := proved(asked(base), here)
	run.Policy.Subfolder = within
	p := (&lab{}).prover()
	p.Tests = shelf{files: files, stand: "b0+tests", lists: map[journal.Where]string{
		journal.AtBase: "passed p.TestOld", journal.AtProof: "passed p.TestOld\npassed p.TestNew", journal.AtDoubt: alone,
	}}
	p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
		commands = append(commands, at.Commands["test"])
		check := says(at)
		check.Where, check.Name = at.Where, "test"
		emit(check)
		return nil
	}
	err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, func(event journal.Event) {
		if graded, is := event.(journal.StoryGraded); is {
			grade = graded
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return commands, grade
}

// fresh returns a check in which the new test fails by name on the base code.
func fresh(at proof.Place) journal.CheckEnded {
	if at.Where == journal.AtDoubt {
		return told("x", 1)
	}
	return failing([]string{"p.TestNew"})
}

// Only the tests in a story's own files run on the base code, where the runner can
// be asked for them. Where all share a process, they have to pass alone, too.
func TestOnlyAStorysTestsRunOnTheBase(t *testing.T) {
	for _, c := range []struct {
		command, runner, within string
		files, want             []string
		alone                   string // what the run on the new code names
	}{
		{"go test ./...", "go", "", []string{"a_test.go", "cart/cart_test.go", "cart/testdata/x.json"}, []string{"go test ./. ./cart"}, ""},
		{"go test -race -coverpkg=./... ./... -count=1", "go", "", []string{"cart/cart_test.go"}, []string{"go test -race -coverpkg=./... ./cart -count=1"}, ""},
		{"go test ./...", "go", "shop", []string{"shop/cart/cart_test.go"}, []string{"go test ./cart"}, ""},
		{"cargo test --workspace", "cargo", "", []string{"tests/a.rs", "cart/tests/b.rs"}, []string{"cargo test --workspace --test a --test b"}, ""},
		{"cargo test -- --nocapture", "cargo", "", []string{"tests/a.rs"}, []string{""}, ""},
		{"cargo test", "cargo", "", []string{"tests/common/mod.rs"}, []string{""}, ""},
		{"npx jest --ci", "jest", "", []string{"src/a.test.ts"}, []string{"npx jest --ci --runTestsByPath src/a.test.ts"}, ""},
		{"vitest run", "vitest", "", []string{"a.spec.js"}, []string{"vitest run a.spec.js"}, ""},
		{"npm test", "jest", "", []string{"a.test.js"}, []string{"npm test -- --runTestsByPath a.test.js"}, ""},
		{"npm run mocha", "mocha", "", []string{"test/a.js"}, []string{"npm run mocha -- test/a.js", "npm run mocha -- test/a.js"}, "passed p.TestNew"},
		{"yarn test", "vitest", "", []string{"a.test.js"}, []string{"yarn test a.test.js"}, ""},
		{"python -m pytest -q", "pytest", "", []string{"tests/test_a.py"}, []string{"python -m pytest -q tests/test_a.py", "python -m pytest -q tests/test_a.py"}, "passed p.TestNew"},
		{"sh check.sh $RALPH_TESTS", "x", "shop", []string{"shop/a_test.sh", "shop/testdata/x"}, []string{"export RALPH_TESTS='a_test.sh'; sh check.sh $RALPH_TESTS", "export RALPH_TESTS='a_test.sh'; sh check.sh $RALPH_TESTS"}, "passed p.TestNew"},
		// All tests run where the command says more, another runner may be behind it, or a file is not a test of that runner.
		{"go test ./... && go vet ./...", "go", "", []string{"a_test.go"}, []string{""}, ""},
		{"go test -run Cart ./...", "go", "", []string{"a_test.go"}, []string{""}, ""},
		{"go test ./...", "go", "", []string{"a_test.go", "testutil/x.go"}, []string{""}, ""},
		{"go test ./...", "go", "shop", []string{"other/a_test.go"}, []string{""}, ""},
		{"go test ./...", "go", "", []string{"a b_test.go"}, []string{""}, ""},
		{"npm test", "tap", "", []string{"a.test.js"}, []string{""}, ""},
		{"pytest tests", "pytest", "", []string{"tests/test_a.py"}, []string{""}, ""},
		{"pytest", "pytest", "", []string{"tests/test_a.py", "tests/conftest.py"}, []string{""}, ""},
		{"make test", "go", "", []string{"a_test.go"}, []string{""}, ""},
	} {
		commands, graded := narrowed(t, c.command, c.runner, c.within, c.files, c.alone, fresh)
		if diff := cmp.Diff(c.want, commands); diff != "" || graded.Grade != journal.RedToGreen {
			t.Errorf("%s with %q: %s (-want +got):\n%s", c.command, c.files, graded.Grade, diff)
		}
	}
}

// A run of few tests that tells nothing by name is followed by one of all: what is red
// for want of the other tests proves nothing. Where all of the few pass, a run of all
// would add nothing, unless other tests may read the data that came with them.
func TestAllTestsRunWhereFewShowNothing(t *testing.T) {
	few := func(check journal.CheckEnded) func(proof.Place) journal.CheckEnded {
		return func(at proof.Place) journal.CheckEnded {
			if at.Commands != nil {
				return check
			}
			return told("x", 1)
		}
	}
	coverage := failing(nil, "the required coverage")
	for name, c := range map[string]struct {
		command string
		file    string
		says    journal.CheckEnded
		want    []string
	}{
		"green":               {"go test ./...", "a_test.go", told("go", 1), []string{"go test ./."}},
		"green without tests": {"go test ./...", "a_test.go", told("go", 0), []string{"go test ./.", ""}},
		"green, with data":    {"go test ./...", "a_test.go testdata/x", told("go", 1), []string{"go test ./.", ""}},
		"red as a whole":      {"go test ./...", "a_test.go", journal.CheckEnded{Exit: 1}, []string{"go test ./.", "go test ./.", ""}},
		"too little coverage": {"go test ./...", "a_test.go", coverage, []string{"go test ./.", ""}},
		"red on its own code": {"pytest", "test_a.py", failing([]string{"p.TestNew"}), []string{"pytest test_a.py", "pytest test_a.py", ""}},
	} {
		commands, graded := narrowed(t, c.command, "go", "", strings.Fields(c.file), "failed p.TestNew", few(c.says))
		if !slices.Equal(commands, c.want) || graded.Grade == journal.RedToGreen {
			t.Errorf("%s: ran %q, %s; want %q and no proof", name, commands, graded.Grade, c.want)
		}
	}
}

// Maven counts tests and names none: that its run of a story's own tests fails is enough.
func TestFewAreEnoughForARunnerThatOnlyCounts(t *testing.T) {
	commands, graded := narrowed(t, "mvn -B test", "summary", "", []string{"src/test/java/ATest.java"}, "", func(at proof.Place) journal.CheckEnded {
		if at.Where == journal.AtDoubt {
			return told("summary", 1)
		}
		return journal.CheckEnded{Exit: 1}
	})
	one := "mvn -B test -Dtest=ATest" // on the base twice, as it names no failure, and alone with the change
	want := []string{one, one, one}
	if !slices.Equal(commands, want) || graded.Grade != journal.RedToGreen {
		t.Errorf("ran %q, %s; want %q and a proof", commands, graded.Grade, want)
	}
}

// A check that cannot be asked for a story's own tests runs all where those pass.
func TestOtherChecksRunWhereFewPass(t *testing.T) {
	run := proved(asked(told("go", 1), green("types")), told("go", 2))
	run.BaseChecks[0].Command, run.Proofs[0].Checks[0].Command = "go test ./...", "go test ./..."
	run.Proofs[0].Checks = append(run.Proofs[0].Checks, green("types"))
	p := (&lab{}).prover()
	p.Tests = shelf{files: []string{"a_test.go"}, stand: "b0+tests"}
	var ran []string
	p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
		for _, check := range []journal.CheckEnded{told("go", 1), red("types", 1)} {
			if at.Only(check.Name) {
				ran = append(ran, check.Name+" "+at.Commands[check.Name])
				check.Where = at.Where
				emit(check)
			}
		}
		return nil
	}
	var graded journal.StoryGraded
	err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, func(event journal.Event) {
		if ended, is := event.(journal.StoryGraded); is {
			graded = ended
		}
	})
	want := []string{"test go test ./.", "types ", "types "} // twice: a failure without names may be chance
	if err != nil || !slices.Equal(ran, want) || graded.Grade != journal.RedToGreen {
		t.Errorf("ran %q, %s, %v; want %q and red to green", ran, graded.Grade, err, want)
	}
}

// Of the old tests only those run on the new code that a touched file can matter to,
// where the runner keeps the tests of other files or folders apart. Where few do not
// tell enough, all run.
func TestOnlyTheOldTestsConcernedRun(t *testing.T) {
	const list = "passed p.TestA\npassed p.TestB"
	file := func(name string, was, doubtful bool) proof.Differing {
		return proof.Differing{Path: name, Tests: true, Was: was, Doubtful: doubtful}
	}
	imported := func(name string) proof.Differing {
		return proof.Differing{Path: name, Tests: true, Was: true, Imported: true}
	}
	red := failing([]string{"p.TestA"})
	for name, c := range map[string]struct {
		command   string
		differing []proof.Differing
		says      journal.CheckEnded // of a run of few tests
		want      []string
		found     bool
	}{
		"a folder's":              {"go test ./...", []proof.Differing{file("a/a_test.go", true, false), file("b/new_test.go", false, false)}, judged("c1", list), []string{"go test ./a ./b"}, false},
		"one fails":               {"go test ./...", []proof.Differing{file("a/a_test.go", true, false)}, red, []string{"go test ./a", "go test ./a"}, true},
		"none to run":             {"go test ./...", []proof.Differing{file("a/a_test.go", false, false)}, green("test"), []string{"go test ./a"}, false},
		"none ran":                {"go test ./...", []proof.Differing{file("a/a_test.go", true, false)}, green("test"), []string{"go test ./a", ""}, false},
		"no folder":               {"go test ./...", []proof.Differing{file("a/a_test.go", false, false)}, journal.CheckEnded{Name: "test", Exit: 1}, []string{"go test ./a", "go test ./a", ""}, false},
		"what other folders use":  {"go test ./...", []proof.Differing{file("testdata/a.golden", true, false)}, red, []string{""}, false},
		"a changed file's":        {"jest", []proof.Differing{file("a.test.js", true, false), file("b.test.js", false, false)}, judged("c1", list), []string{"jest --runTestsByPath a.test.js"}, false},
		"a program's":             {"cargo test", []proof.Differing{file("tests/a.rs", true, false), file("tests/b.rs", false, false)}, judged("c1", list), []string{"cargo test --test a"}, false},
		"a new file alone":        {"jest", []proof.Differing{file("b.test.js", false, false)}, red, nil, false},
		"the product may load it": {"jest", []proof.Differing{file("a.test.js", true, false), file("__tests__/b.js", false, true)}, red, []string{"", ""}, false},
		"another test loads it":   {"jest", []proof.Differing{imported("__tests__/same.js"), file("a.test.js", true, false)}, red, []string{""}, false},
		"a package cannot":        {"go test ./...", []proof.Differing{imported("a/a_test.go")}, judged("c1", list), []string{"go test ./a"}, false},
		"vitest's":                {"vitest run", []proof.Differing{file("a.test.js", true, false), file("b.test.js", false, false)}, judged("c1", list), []string{"vitest run a.test.js"}, false},
		"vitest's in one process": {"vitest run --no-isolate", []proof.Differing{file("b.test.js", false, false)}, red, []string{""}, false},
		"all in one process":      {"pytest", []proof.Differing{file("test_a.py", true, false)}, red, []string{""}, false},
	} {
		base, here := judged("b0", list), judged("c1", list)
		base.Command, here.Command = c.command, c.command
		run := proved(asked(base), here)
		run.Baseline.Usable = true
		tests := byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": c.differing}}, map[string]string{"b0": list, "c1": list, "old": list}}
		var ran []string
		b := &bench{check: func(at proof.Place) journal.CheckEnded {
			ran = append(ran, at.Commands["test"])
			if at.Commands["test"] == "" {
				return judged("c1", list)
			}
			return c.says
		}}
		got := b.inspect(t, run, tests)
		if diff := cmp.Diff(c.want, ran); diff != "" || len(got.Found) > 0 != c.found {
			t.Errorf("%s: found %v, ran (-want +got):\n%s", name, places(got.Found), diff)
		}
	}
}

// Where fewer tests pass than before and the runner names none, those of an untouched file may no longer run.
func TestAllOldTestsRunWhereFewerPass(t *testing.T) {
	jest := func(passed int, command string) journal.CheckEnded {
		check := told("jest", passed)
		check.Name, check.Command = "test", command
		return check
	}
	for name, c := range map[string]struct {
		here, all int // passing tests of the proof, and of all old tests on the new code
		runs      int
		found     bool
	}{
		"as many":            {5, 5, 1, false},
		"removed in a story": {4, 5, 2, false},
		"gone elsewhere":     {4, 3, 2, true},
	} {
		run := proved(asked(jest(5, "jest")), jest(c.here, "jest"))
		run.Baseline.Usable = true
		runs := 0
		b := &bench{check: func(at proof.Place) journal.CheckEnded {
			runs++
			if few := at.Commands["test"]; few != "" {
				return jest(2, few)
			}
			return jest(c.all, "jest")
		}}
		differing := []proof.Differing{{Path: "a.js", Was: true}, {Path: "a.test.js", Tests: true, Was: true}}
		got := b.inspect(t, run, byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": differing}}, nil})
		if len(got.Found) > 0 != c.found || runs != c.runs {
			t.Errorf("%s: found %v in %d runs", name, places(got.Found), runs)
		}
	}
}

// A check that names no tests and reads the files to run is asked for a story's own:
// red twice on the base code and green alone on the new code.
func TestTestsAreReadFromAVariable(t *testing.T) {
	const command, some = "sh check.sh $RALPH_TESTS", "export RALPH_TESTS='ten_test.sh'; sh check.sh $RALPH_TESTS"
	for name, c := range map[string]struct {
		red  func(at proof.Place) bool
		want []string
		last journal.Grade
	}{
		"red to green":  {func(at proof.Place) bool { return at.Where == journal.AtTests }, []string{some, some, some}, journal.RedToGreen},
		"red by chance": {func(at proof.Place) bool { return at.Where == journal.AtTests && !at.Second }, []string{some, some, "", ""}, journal.Unbroken},
		"red alone":     {func(at proof.Place) bool { return at.Commands != nil }, []string{some, some, some, ""}, journal.Unbroken},
		"green":         {func(proof.Place) bool { return false }, []string{some, ""}, journal.Unbroken},
	} {
		base, here := green("test"), green("test")
		base.Command, here.Command = command, command
		var commands []string
		l := &lab{}
		p := l.prover()
		p.Tests = shelf{files: []string{"ten_test.sh"}, stand: "b0+tests"}
		p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			commands = append(commands, at.Commands["test"])
			check := green("test")
			if c.red(at) {
				check = red("test", 1)
			}
			check.Where = at.Where
			emit(check)
			return nil
		}
		if err := p.Grade(t.Context(), proved(asked(base), here), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		graded, _ := l.last().(journal.StoryGraded)
		if diff := cmp.Diff(c.want, commands); diff != "" || graded.Grade != c.last {
			t.Errorf("%s: %s (-want +got):\n%s", name, graded.Grade, diff)
		}
	}
}

// Such a check runs all old tests without what is new: its tests share the checkout, where
// a new one can write what the others see. vitest's files share a process where the
// project says so.
func TestOldTestsOfAVariableRun(t *testing.T) {
	const command = "sh check.sh $RALPH_TESTS"
	changed, brought := proof.Differing{Path: "a_test.sh", Tests: true, Was: true}, proof.Differing{Path: "b_test.sh", Tests: true}
	for name, c := range map[string]struct {
		command   string
		differing []proof.Differing
		mixed     bool
		red       bool // the old tests
		want      []string
	}{
		"changed":       {command, []proof.Differing{changed, brought}, false, false, []string{""}},
		"it fails":      {command, []proof.Differing{changed}, false, true, []string{"", ""}},
		"brought":       {command, []proof.Differing{brought}, false, false, []string{""}},
		"a helper":      {command, []proof.Differing{brought, {Path: "testdata/a", Tests: true, Was: true}}, false, false, []string{""}},
		"no variable":   {"sh check.sh", []proof.Differing{changed}, false, false, []string{""}},
		"mixed, not so": {command, []proof.Differing{changed}, true, false, []string{""}},
		"mixed":         {"vitest run", []proof.Differing{{Path: "a.test.js", Tests: true}}, true, false, []string{""}},
		"not mixed":     {"vitest run", []proof.Differing{{Path: "a.test.js", Tests: true}}, false, false, nil},
	} {
		base, here := green("test"), green("test")
		base.Command, here.Command = c.command, c.command
		if c.command == "vitest run" {
			base.Tests, here.Tests = &journal.Tests{Runner: "vitest", Passed: 1}, &journal.Tests{Runner: "vitest", Passed: 1}
		}
		run := proved(asked(base), here)
		run.Baseline.Usable = true
		var ran []string
		b := &bench{check: func(at proof.Place) journal.CheckEnded {
			ran = append(ran, at.Commands["test"])
			if c.red {
				return red("test", 1)
			}
			return here
		}}
		got := b.inspect(t, run, shelf{differing: map[string][]proof.Differing{"b0..c1": c.differing}, mixed: c.mixed})
		if diff := cmp.Diff(c.want, ran); diff != "" || len(got.Found) > 0 != c.red {
			t.Errorf("%s: found %v, ran (-want +got):\n%s", name, places(got.Found), diff)
		}
	}
}

// Runners that name no tests tell by their exit code: few tests fail on the base code, all
// of them pass alone with the change. Twice, for a failure without names may be chance.
func TestRunnersThatNameNoTests(t *testing.T) {
	for _, c := range []struct {
		command string
		files   []string
		few     string
	}{
		{"rspec", []string{"spec/a_spec.rb", "spec/b_spec.rb"}, "rspec spec/a_spec.rb spec/b_spec.rb"},
		{"vendor/bin/phpunit --colors=never", []string{"tests/CartTest.php"}, "vendor/bin/phpunit --colors=never tests/CartTest.php"},
		{"./mvnw -B test", []string{"src/test/java/a/CartTest.java", "src/test/java/TestSum.java"}, "./mvnw -B test -Dtest=CartTest,TestSum"},
		{"gradle test --no-daemon", []string{"src/test/kotlin/CartTest.kt", "src/test/java/SumTest.java"}, "gradle test --no-daemon --tests CartTest --tests SumTest"},
		{"mvn verify", []string{"src/test/java/CartTest.java"}, ""},
		{"mvn test", []string{"src/test/java/CartTest.java", "src/test/java/Helper.java"}, ""},
		{"pytest", []string{"tests/test_a.py"}, ""},
	} {
		for _, alone := range []bool{true, false} { // it passes when only the story's files run
			base := green("test")
			base.Command = c.command
			run := proved(asked(base), base)
			p := (&lab{}).prover()
			p.Tests = shelf{files: c.files, stand: "b0+tests"}
			var ran []string
			p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
				ran = append(ran, at.Commands["test"])
				check := red("test", 1)
				if at.Where == journal.AtDoubt && alone {
					check = green("test")
				}
				check.Where = at.Where
				emit(check)
				return nil
			}
			var grade journal.StoryGraded
			err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, func(event journal.Event) {
				if ended, is := event.(journal.StoryGraded); is {
					grade = ended
				}
			})
			want := []string{c.few, c.few, c.few}
			switch {
			case c.few == "":
				want = []string{"", ""}
			case !alone:
				want = append(want, "", "")
			}
			if !slices.Equal(ran, want) || err != nil || grade.Grade != journal.RedToGreen {
				t.Errorf("%s, passing alone: %t: ran %q, %s, %v; want %q", c.command, alone, ran, grade.Grade, err, want)
			}
		}
	}
}

// Checks that are no plain test runners run before those that run some tests: a build may make what these need.
func TestChecksThatPrepare(t *testing.T) {
	other, steps, tests, here := told("jest", 1), told("jest", 1), told("jest", 1), told("jest", 2)
	other.Name, other.Command, steps.Name, steps.Command = "other", "jest", "steps", "sh steps.sh"
	tests.Command, here.Command = "jest", "jest"
	run := proved(asked(green("build"), other, steps, tests, green("late")), here)
	p := (&lab{}).prover()
	p.Tests = shelf{files: []string{"a.test.js"}, stand: "b0+tests", lists: map[journal.Where]string{
		journal.AtBase: "passed old", journal.AtProof: "passed old\npassed new",
	}}
	var ran, recorded []string
	p.Check = func(_ context.Context, run journal.Run, at proof.Place, emit func(journal.Event)) error {
		for _, check := range run.Policy.Checks {
			if at.Only(check.Name) {
				ran = append(ran, check.Name)
				ended := failing([]string{"new"})
				ended.Where, ended.Name = at.Where, check.Name
				emit(ended)
			}
		}
		return nil
	}
	err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, func(event journal.Event) {
		if ended, is := event.(journal.CheckEnded); is {
			recorded = append(recorded, ended.Name)
		}
	})
	if !slices.Equal(ran, []string{"build", "steps", "test"}) || !slices.Equal(recorded, []string{"test"}) || err != nil {
		t.Errorf("ran %q, recorded %q, %v; want the build, the steps and the tests, and these recorded", ran, recorded, err)
	}
}
