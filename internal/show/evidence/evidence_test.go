package evidence_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	valid "github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/show/evidence"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

const published = "../../../schema/evidence.schema.json"

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
	for name, dir := range map[string]string{"show/evidence": "./", "core/journal": "../../core/journal"} {
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
