package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/contract"
)

// small is a description that needs no installation.
const small = `{
  "openapi": "3.0.3", "info": {"title": "small", "version": "1"},
  "paths": {
    "/labels/{name}": {"get": {
      "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}],
      "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/label"}}}}}
    }},
    "/labels": {"post": {
      "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/label"}}}},
      "responses": {"201": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/label"}}}}}
    }}
  },
  "components": {"schemas": {
    "label": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    "basic-error": {"type": "object", "properties": {"message": {"type": "string"}, "documentation_url": {"type": "string"}}}
  }}
}`

// A wrong answer, a wrong request and an unknown path are violations.
func TestValidate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "small.json")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	description, err := contract.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		name, method, path, body, answer string
		status                           int
		want                             string
	}{
		{"fine", "GET", "/api/v3/labels/a%2Fb", "", `{"name":"a/b"}`, 200, ""},
		{"wrong type", "GET", "/labels/x", "", `{"name":1}`, 200, "value must be a string"},
		{"field lacks", "GET", "/labels/x", "", `{}`, 200, `property "name" is missing`},
		{"wrong status", "GET", "/labels/x", "", `{"name":"x"}`, 202, "status is not supported"},
		{"wrong request", "POST", "/labels", `{"name":2}`, `{"name":"x"}`, 201, "request POST /labels"},
		{"unknown path", "GET", "/nothing", "", `{}`, 200, "not in the description"},
		{"error everywhere", "GET", "/labels/x", "", `{"message":"no","documentation_url":"d"}`, 403, ""},
		{"error of another shape", "GET", "/labels/x", "", `{"error":"no"}`, 403, "lacks message"},
	} {
		t.Run(one.name, func(t *testing.T) {
			var seen []error
			answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				w.WriteHeader(one.status)
				_, _ = w.Write([]byte(one.answer))
			})
			validated := description.Validate(answer, func(err error) { seen = append(seen, err) })
			request := httptest.NewRequestWithContext(t.Context(), one.method, one.path, strings.NewReader(one.body))
			request.Header.Set("Content-Type", "application/json")
			validated.ServeHTTP(httptest.NewRecorder(), request)
			got := errors.Join(seen...)
			if one.want == "" && got != nil || one.want != "" && (got == nil || !strings.Contains(got.Error(), one.want)) {
				t.Errorf("violations = %v, want %q", got, one.want)
			}
		})
	}
}

var recorded = flag.String("calls", "", "folder of recorded calls to judge, as make contract has it")

// What tests recorded keeps to the real description. It is as strict with the stand-in: an answer with a field taken away
// is a violation.
func TestRecorded(t *testing.T) {
	description, err := contract.Installed()
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CONTRACT") == "" {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var own bytes.Buffer
	s := &githubtest.Server{Wrap: func(next http.Handler) http.Handler {
		return githubtest.Record(without("html_url", next), &own)
	}}
	ask(t, s)
	if got := judge(t, description, &own); len(got) != 1 || !strings.Contains(got[0], `"html_url" is missing`) {
		t.Errorf("violations = %q, want one for html_url", got)
	}
	if *recorded == "" {
		return
	}
	files, err := filepath.Glob(filepath.Join(*recorded, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no calls were recorded in %s: %v", *recorded, err)
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, violation := range judge(t, description, file) {
			t.Errorf("%s: %s", filepath.Base(name), violation)
		}
		_ = file.Close()
	}
}

// judge returns the violations in recorded calls.
func judge(t *testing.T, description *contract.Description, calls io.Reader) (violations []string) {
	t.Helper()
	if err := description.Judge(t.Context(), calls, func(err error) { violations = append(violations, err.Error()) }); err != nil {
		t.Error(err)
	}
	return violations
}

// ask asks a stand-in for a repository.
func ask(t *testing.T, s *githubtest.Server) {
	t.Helper()
	s.AddRepo(githubtest.Repo{Owner: "acme", Name: "shop"})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v3/repos/acme/shop", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// without takes a field out of the answers of a handler.
func without(field string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := httptest.NewRecorder()
		next.ServeHTTP(kept, r)
		var body map[string]any
		if err := json.Unmarshal(kept.Body.Bytes(), &body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		delete(body, field)
		w.Header().Set("Content-Type", kept.Header().Get("Content-Type"))
		_ = json.NewEncoder(w).Encode(body)
	})
}
