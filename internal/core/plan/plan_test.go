package plan_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// An archive has prd.json, issue.md or prompt.md (the first line is the title) and
// the result: want is a plan or an error, source its Source, order the ids in the
// order of Next.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %d files, %v, want some", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, file, archive)
		})
	}
}

func compare(t *testing.T, file string, archive *txtar.Archive) {
	t.Helper()
	given, golden := archive.Files[0], archive.Files[1:]
	got := outcome(t, given)
	if *update {
		archive.Files = append([]txtar.File{given}, got...)
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(texts(golden), texts(got)); diff != "" {
		t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
	}
}

func texts(files []txtar.File) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.Name] = string(f.Data)
	}
	return all
}

func outcome(t *testing.T, given txtar.File) []txtar.File {
	t.Helper()
	var files []txtar.File
	var p plan.Plan
	var err error
	if strings.HasSuffix(given.Name, ".md") {
		var source plan.Source
		task := issue(string(given.Data))
		if given.Name == "prompt.md" {
			task.Kind, task.Number = plan.KindPrompt, 0
		}
		if task.Kind == plan.KindIssue {
			task.Body = clean.FromMarkdown(task.Body, 0).Text
		}
		p, source, err = plan.Draft(task)
		files = append(files, txtar.File{Name: "source", Data: []byte(source + "\n")})
	} else {
		p, err = plan.Read(given.Name, given.Data)
	}
	if err != nil {
		return append(files, txtar.File{Name: "want", Data: []byte(err.Error() + "\n")})
	}
	want, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	order := strings.Join(walk(t, p), " ") + "\n"
	return append(files, txtar.File{Name: "want", Data: want}, txtar.File{Name: "order", Data: []byte(order)})
}

func issue(text string) plan.Task {
	title, body, _ := strings.Cut(text, "\n")
	return plan.Task{
		Kind: plan.KindIssue, Number: 12, Repo: "acme/shop", Title: title, Body: strings.TrimPrefix(body, "\n"),
	}
}

// walk passes all stories in the order of Next.
func walk(t *testing.T, p plan.Plan) []string {
	t.Helper()
	p.UserStories = slices.Clone(p.UserStories)
	ids := []string{}
	for {
		next, ok := p.Next()
		if !ok {
			break
		}
		for _, dep := range next.DependsOn {
			if s, _ := p.Find(dep); !s.Passes {
				t.Errorf("Next = %s, want %s to pass before it", next.ID, dep)
			}
		}
		at := slices.IndexFunc(p.UserStories, func(s plan.Story) bool { return s.ID == next.ID })
		p.UserStories[at].Passes = true
		ids = append(ids, next.ID)
		if len(ids) > len(p.UserStories) {
			t.Fatalf("Next gave %d stories of %d", len(ids), len(p.UserStories))
		}
	}
	if !p.Done() || len(p.Open()) != 0 {
		t.Errorf("Open = %d stories after %v, want none", len(p.Open()), ids)
	}
	return ids
}

// someplan makes a random plan: stories depend on others of lower rank, and are in
// random order.
func someplan(seed int) plan.Plan {
	dice := sha256.Sum256(fmt.Append(nil, seed))
	count := 1 + int(dice[0])%12
	var p plan.Plan
	for rank := range count {
		s := plan.Story{
			ID: fmt.Sprintf("US-%03d", rank), Title: "some", AcceptanceCriteria: []string{"some"},
			Priority: int(dice[rank+1]) % 4,
		}
		for lower := range rank {
			if (int(dice[lower+13])+rank*7)%3 == 0 {
				s.DependsOn = append(s.DependsOn, fmt.Sprintf("US-%03d", lower))
			}
		}
		at := int(dice[rank+2]) % (len(p.UserStories) + 1)
		p.UserStories = slices.Insert(p.UserStories, at, s)
	}
	return p
}

func TestEmptyPlanIsNeverDone(t *testing.T) {
	var p plan.Plan
	if _, ok := p.Next(); ok || p.Done() {
		t.Errorf("Next, Done = %t, %t, want neither", ok, p.Done())
	}
}

func TestWhatCannotBeTakenBack(t *testing.T) {
	for _, data := range []string{`{"project":1}`, `{"userStories":[{"id":1}]}`, `{"userStories":[{"x":[}]}`, `{"x":`} {
		var p plan.Plan
		if err := json.Unmarshal([]byte(data), &p); err == nil {
			t.Errorf("Unmarshal(%.40s) = %+v, want an error", data, p)
		}
	}
}

func TestMarshalRefusesWhatCannotBeReadBack(t *testing.T) {
	long := plan.Plan{Description: strings.Repeat("long ", 1<<18)}
	broken := jsontext.Value(`{"owner":{`)
	for name, p := range map[string]plan.Plan{
		"too long": long, "broken extra": {Extra: broken}, "of a story": {UserStories: []plan.Story{{Extra: broken}}},
	} {
		if out, err := p.Marshal(); err == nil {
			t.Errorf("%s: Marshal = %d bytes, want an error", name, len(out))
		}
	}
}

func FuzzRead(f *testing.F) {
	seed(f, func(given txtar.File) { f.Add(given.Data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.Read("prd.json", data)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Error("an error that says nothing")
			}
			return
		}
		walk(t, p)
		again(t, p)
	})
}

func FuzzDraft(f *testing.F) {
	seed(f, func(given txtar.File) {
		task := issue(string(given.Data))
		f.Add(task.Title, task.Body)
	})
	f.Add("A form", "### What\n\n_No response_\n\n### Done when\n\n- [x] it is there\n")
	f.Add("Behind a tab", "- [ ] - >\n\t#")
	f.Fuzz(func(t *testing.T, title, body string) {
		p, _, err := plan.Draft(plan.Task{Kind: plan.KindIssue, Title: title, Body: body})
		if err != nil {
			return
		}
		walk(t, p)
		again(t, p)
	})
}

// again checks that a plan can be written and read back unchanged.
func again(t *testing.T, p plan.Plan) {
	t.Helper()
	written, err := p.Marshal()
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	back, err := plan.Read("prd.json", written)
	if err != nil {
		t.Fatalf("Read(Marshal): %v, of\n%s", err, written)
	}
	if diff := cmp.Diff(p, back, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Read(Marshal) (-before +after):\n%s", diff)
	}
	if twice, _ := back.Marshal(); !bytes.Equal(written, twice) {
		t.Errorf("Marshal twice = %s, want %s", twice, written)
	}
}

func seed(f *testing.F, add func(txtar.File)) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		add(archive.Files[0])
	}
}
