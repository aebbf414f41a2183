package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// slashed are the paths whose last or middle part is a ref. GitHub takes its
// slashes as they are; a path of the description matches only without them.
var slashed = []*regexp.Regexp{
	regexp.MustCompile(`^(/repos/[^/]+/[^/]+/(?:rules/branches|contents)/)(.+)()$`),
	regexp.MustCompile(`^(/repos/[^/]+/[^/]+/commits/)(.+)(/(?:status|check-runs))$`),
}

// canonical returns an escaped path as the description would write it.
func canonical(path string) string {
	if rest, ok := strings.CutPrefix(path, "/api/v3/"); ok {
		path = "/" + rest
	}
	for _, pattern := range slashed {
		if found := pattern.FindStringSubmatch(path); found != nil {
			return found[1] + strings.ReplaceAll(found[2], "/", "%2F") + found[3]
		}
	}
	return path
}

func unescape(path string) (string, error) {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("unescape %s: %w", path, err)
	}
	return plain, nil
}

var (
	labels = regexp.MustCompile(`^/repos/[^/]+/[^/]+/issues/\d+/labels$`)
	tokens = regexp.MustCompile(`^/app/installations/\d+/access_tokens$`)
)

// documented returns a body in the form that the description has, for the two forms
// that it refuses, and GitHub takes from the libraries that send them. A bare
// array of labels: https://github.com/google/go-github/blob/v60.0.0/github/issues_labels.go
// A token without wishes, sent as null:
// https://github.com/bradleyfalzon/ghinstallation/blob/v2.10.0/transport.go
func documented(method, path string, body []byte) []byte {
	text := bytes.TrimSpace(body)
	switch {
	case method == http.MethodPost && labels.MatchString(path) && bytes.HasPrefix(text, []byte("[")):
		return fmt.Appendf(nil, `{"labels":%s}`, text)
	case method == http.MethodPost && tokens.MatchString(path) && string(text) == "null":
		return nil
	}
	return body
}

// addConclusions has check runs and jobs take the conclusions that only GitHub sets. The description lists them for suites of
// checks; CheckConclusionState of the GraphQL API lists them for check runs:
// https://docs.github.com/en/graphql/reference/enums#checkconclusionstate
func addConclusions(schemas openapi3.Schemas) {
	for _, name := range []string{"check-run", "job"} {
		if schema := schemas[name]; schema != nil {
			conclusion := schema.Value.Properties["conclusion"].Value
			conclusion.Enum = append(conclusion.Enum, "stale", "startup_failure")
		}
	}
}

// plainError holds an answer against the shape that all of GitHub's errors have.
func (d *Description) plainError(kept *httptest.ResponseRecorder) error {
	if !isJSON(kept.Header()) {
		return fmt.Errorf("its type is %q", kept.Header().Get("Content-Type"))
	}
	var body map[string]any
	if err := json.Unmarshal(kept.Body.Bytes(), &body); err != nil {
		return fmt.Errorf("decode it: %w", err)
	}
	if body["message"] == nil || body["documentation_url"] == nil {
		return errors.New("it lacks message or documentation_url")
	}
	return d.errors.VisitJSON(body)
}
