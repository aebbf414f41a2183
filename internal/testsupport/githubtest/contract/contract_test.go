package contract_test

import (
	"encoding/json"
	"errors"
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

// The real description is as strict with the stand-in's answers: one of them
// with a field taken away is a violation.
func TestInstalled(t *testing.T) {
	description, err := contract.Installed()
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CONTRACT") == "" {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var seen []error
	s := &githubtest.Server{Wrap: func(next http.Handler) http.Handler {
		return description.Validate(without("html_url", next), func(err error) { seen = append(seen, err) })
	}}
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
	if len(seen) != 1 || !strings.Contains(seen[0].Error(), `"html_url" is missing`) {
		t.Errorf("violations = %v, want one for html_url", seen)
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
