package evidence_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	valid "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const published = "../../schema/evidence.schema.json"

// Every file in testdata has a journal and its evidence.
func TestStories(t *testing.T) {
	schema, err := valid.NewCompiler().Compile(published)
	if err != nil {
		t.Fatal(err)
	}
	journaltest.Stories(t, *update, func(t *testing.T, s journaltest.Story) []txtar.File {
		t.Helper()
		data, err := evidence.Of(s.Run, map[string]string{"ralph": "1.2.3"}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := valid.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = schema.Validate(doc)
		}
		if err != nil {
			t.Errorf("it does not keep to its schema: %v", err)
		}
		return []txtar.File{{Name: "evidence.json", Data: data}}
	})
}

func TestSchemaIsFresh(t *testing.T) {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true}
	for name, dir := range map[string]string{"evidence": "./", "journal": "../journal"} {
		if err := r.AddGoComments("github.com/ralph-loop/ralph/internal/"+name, dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, comment := range r.CommentMap {
		r.CommentMap[name] = strings.ReplaceAll(comment, "\n", " ")
	}
	root := r.Reflect(evidence.Evidence{})
	root.Title = "ralph: evidence.json"
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(published, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s is stale, run go test with -update (-it +types):\n%s", published, diff)
	}
}

const worked = `{"type":"check_ended","where":"base","name":"test","command":"make test","passed":true}
{"type":"baseline_ended","usable":true}
{"type":"iteration_began","number":1,"story":"US-001"}
{"type":"agent_ended","tools":3}
{"type":"plan_read","claimed":["US-001"]}
{"type":"check_ended","where":"work","name":"test","command":"make test","passed":true}
{"type":"commits_taken","from":"b0","to":"c1","tree":"t1","work":"t1"}
{"type":"check_ended","where":"proof","name":"test","command":"make test","passed":true}
{"type":"proof_ended","commit":"c1","tree":"t1","passed":true}
{"type":"story_graded","story":"US-001","commit":"c1","grade":"red to green","files":["tests/a.sh"]}
{"type":"iteration_ended","number":1,"story":"US-001","green":true,"passed":["US-001"]}
`

// evident returns a run whose checks name their tests.
func evident(t *testing.T) journal.Run {
	t.Helper()
	named := strings.NewReplacer(
		`"where":"proof","name":"test","command":"make test","passed":true`, `"where":"proof","name":"test","command":"make test","passed":true,"tests":{"runner":"tap","passed":2,"failed":0}`,
		`"files":["tests/a.sh"]`, `"files":["tests/a.sh"],"tests":["a"]`,
	)
	return journaltest.Run(t, []byte(named.Replace(worked)))
}

func of(t *testing.T) evidence.Evidence {
	t.Helper()
	return evidence.Of(journaltest.Run(t, []byte(worked)), nil)
}

// Evidence is read back unchanged. Other files are refused.
func TestRead(t *testing.T) {
	e := of(t)
	data, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := evidence.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := again.Marshal(); err != nil || !bytes.Equal(twice, data) {
		t.Errorf("read back as other: %v\n%s", err, cmp.Diff(string(data), string(twice)))
	}
	for why, change := range map[string]func(*evidence.Evidence){
		"version 2":   func(e *evidence.Evidence) { e.Version = 2 },
		"no proof":    func(e *evidence.Evidence) { e.Proof = nil },
		"no checks":   func(e *evidence.Evidence) { e.Rules.Checks = nil },
		"at the base": func(e *evidence.Evidence) { e.Baseline = nil },
		"two of the name \"check test\"": func(e *evidence.Evidence) {
			e.Rules.Checks = append(e.Rules.Checks, evidence.Command{Name: "test", Command: "false"})
		},
		"two of the name \"story US-001\"": func(e *evidence.Evidence) { e.Stories = append(e.Stories, e.Stories[0]) },
	} {
		odd := of(t)
		change(&odd)
		data, err := odd.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := evidence.Read(data); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Read without it = %v, want %q", err, why)
		}
	}
	for _, text := range []string{"", "[]", `{"version":1,"more":2}`, `{"version":"1"}`} {
		if _, err := evidence.Read([]byte(text)); err == nil {
			t.Errorf("Read(%s) is content", text)
		}
	}
	e.Rules.Checks[0].Timeout = "soon"
	if _, err := e.NewRun(); err == nil {
		t.Error("Again takes a time that is none")
	}
}

// anew returns a repeated run with the same results, except one change.
func anew(t *testing.T, e evidence.Evidence, events ...journal.Event) journal.Run {
	t.Helper()
	run, err := e.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		run = journal.Fold(run, journal.Entry{Event: event})
	}
	return run
}

// A flaky check can fail with other tests, or pass.
func TestFlakyChecksDiffer(t *testing.T) {
	tests := journal.Tests{Runner: "pytest", Passed: 1, Failed: 1, Red: []string{"t[b]"}}
	for name, c := range map[string]struct {
		change func(check *journal.CheckEnded)
		same   bool
	}{
		"green":           {func(check *journal.CheckEnded) { check.Passed = true }, true},
		"by chance again": {func(check *journal.CheckEnded) { check.Tests, check.Flaky = &tests, true }, true},
		"red":             {func(check *journal.CheckEnded) { check.Tests = &tests }, false},
	} {
		e := of(t)
		e.Proof.Checks[0].Flaky, e.Proof.Checks[0].Passed = true, false
		check := journal.CheckEnded{Where: journal.AtProof, Name: "test", Command: "make test"}
		c.change(&check)
		base := journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true}
		got := e.Differences(anew(t, e, base, journal.BaselineEnded{Usable: true}, check,
			journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true}, journal.StoryGraded{Story: "US-001", Grade: journal.RedToGreen}))
		if (len(got) == 0) != c.same {
			t.Errorf("%s: differences %q, want none: %v", name, got, c.same)
		}
	}
}

func TestDifferences(t *testing.T) {
	base := journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true}
	usable := journal.BaselineEnded{Usable: true}
	here := journal.CheckEnded{Where: journal.AtProof, Name: "test", Command: "make test", Passed: true}
	proof := journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true}
	grade := journal.StoryGraded{Story: "US-001", Grade: journal.RedToGreen}
	redBase, redHere, skipped, failed, touched, unbroken := base, here, here, proof, proof, grade
	redBase.Passed, redBase.Exit = false, 2
	redHere.Passed, redHere.Exit = false, 1
	skipped.Skipped = "web/**"
	failed.Passed, failed.Why = false, "test failed (exit 1)"
	touched.Restored = []string{"CODEOWNERS"}
	unbroken.Grade, unbroken.Why = journal.Unbroken, "it added no test"
	for name, test := range map[string]struct {
		events []journal.Event
		want   []string
	}{
		"nothing":    {[]journal.Event{base, usable, here, proof, grade}, nil},
		"no proof":   {[]journal.Event{base, usable}, []string{"the proof could not be repeated"}},
		"no grade":   {[]journal.Event{base, usable, here, proof}, []string{"the grade of US-001: unverified; the file says: red to green"}},
		"less grade": {[]journal.Event{base, usable, here, proof, unbroken}, []string{"the grade of US-001: unbroken; the file says: red to green"}},
		"protected":  {[]journal.Event{base, usable, here, touched, grade}, []string{"changed protected files: CODEOWNERS; the file says: none"}},
		"not run":    {[]journal.Event{base, usable, proof, grade}, []string{"check test was not run"}},
		"skipped": {[]journal.Event{base, usable, skipped, proof, grade}, []string{
			"check test: `make test`, skipped if nothing in web/** is changed; the file says: `make test`",
		}},
		"red": {[]journal.Event{base, usable, redHere, failed, grade}, []string{
			"the proof: fails; the file says: passes", "the proof: test failed (exit 1)",
			"check test: fails (passed tests: 0, failed: none); the file says: passes (passed tests: 0, failed: none)",
		}},
		"red before": {[]journal.Event{redBase, journal.BaselineEnded{}, here, proof, grade}, []string{
			"the checks can prove something at the base: false; the file says: true",
			"at the base check test: fails (passed tests: 0, failed: none); the file says: passes (passed tests: 0, failed: none)",
		}},
	} {
		e := of(t)
		if diff := cmp.Diff(test.want, e.Differences(anew(t, e, test.events...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The inspection of the repeated run is compared with the claimed one.
func TestDifferencesOfAnInspection(t *testing.T) {
	skipped := journal.Loosened{File: "a_test.go", Kind: "test_skipped", Why: "the test A is skipped"}
	whole := append(strings.Split(strings.TrimSpace(worked), "\n"),
		`{"type":"change_inspected","commit":"c1","tree":"t1","found":[{"file":"a_test.go","kind":"test_skipped","why":"the test A is skipped"}]}`)
	e := evidence.Of(journaltest.Run(t, []byte(strings.Join(whole, "\n"))), nil)
	events := []journal.Event{
		journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true},
		journal.BaselineEnded{Usable: true},
		journal.CheckEnded{Where: journal.AtProof, Name: "test", Command: "make test", Passed: true},
		journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true},
		journal.StoryGraded{Story: "US-001", Grade: journal.RedToGreen},
	}
	for want, now := range map[string]journal.ChangeInspected{
		"": {Tree: "t1", Found: []journal.Loosened{skipped}},
		"the change is blocked by: none; the file says: a_test.go (test_skipped)": {Tree: "t1"},
		"the change is blocked by: a_test.go (test_skipped), a_test.go (test_skipped); the file says: a_test.go (test_skipped)": {
			Tree: "t1", Found: []journal.Loosened{skipped, skipped},
		},
		"the change is blocked by: an unknown number of files (git broke); the file says: a_test.go (test_skipped)": {Tree: "t1", Why: "git broke"},
	} {
		got := strings.Join(e.Differences(anew(t, e, append(slices.Clone(events), now)...)), "\n")
		if got != want {
			t.Errorf("differences = %q, want %q", got, want)
		}
	}
}

// Failures are compared by name.
func TestDifferencesByName(t *testing.T) {
	e := of(t)
	e.Proof.Checks[0].Passed, e.Proof.Checks[0].Tests = false, &evidence.Tests{Runner: "go", Red: []string{"b", "a"}}
	for names, want := range map[string]int{"a b": 0, "a": 1, "a c": 1, "": 1} {
		red := journal.CheckEnded{Where: journal.AtProof, Name: "test", Command: "make test", Tests: &journal.Tests{Runner: "go", Red: strings.Fields(names)}}
		run := anew(t, e, journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true}, journal.BaselineEnded{Usable: true}, red,
			journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true}, journal.StoryGraded{Story: "US-001", Grade: journal.RedToGreen})
		if got := e.Differences(run); len(got) != want {
			t.Errorf("red %q: %q, want %d lines", names, got, want)
		}
	}
}

// No file causes a panic.
func FuzzRead(f *testing.F) {
	run := journaltest.Run(f, []byte(worked))
	data, err := evidence.Of(run, nil).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Replace(data, []byte(`"stories": [`), []byte(`"stories": [null, {},`), 1))
	f.Add([]byte(`{"version":1e9}`))
	f.Add([]byte(`{"version":1,"version":2,"stories":[{"id":"","iterations":-1}],"checks":null}{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := evidence.Read(data)
		if err != nil {
			return
		}
		again, err := e.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := evidence.Read(again); err != nil {
			t.Errorf("what was read is refused when it is written: %v", err)
		}
		anew, _ := e.NewRun()
		e.Differences(anew)
		e.Differences(run)
		e.Inspections()
		e.EarlierStories()
		e.GradedStories()
		e.CommitsByStory()
	})
}

// Commits that prove no story judge nothing when a proof is repeated.
func TestInspectionsOfProvenStories(t *testing.T) {
	proof := &evidence.Proof{Tree: "t1"}
	e := evidence.Evidence{Inspection: &evidence.Inspection{}, Stories: []evidence.Story{
		{ID: "US-001", Commit: "c1", Proven: true, Proof: proof}, {ID: "US-002", Commit: "c2", Proof: proof}, {ID: "US-003", Commit: "c3", Proven: true},
	}}
	want := []journal.ChangeInspected{{Commit: "c1", Tree: "t1"}}
	if diff := cmp.Diff(want, e.Inspections()); diff != "" {
		t.Errorf("inspections (-want +got):\n%s", diff)
	}
	e.Stories[1].MayChangeTests = true
	if got := e.Inspections(); len(got) != 2 || got[1].Commit != "" {
		t.Errorf("%+v, want what people allowed, too", got)
	}
}
