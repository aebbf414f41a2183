// Package contract checks HTTP traffic against GitHub's published description
// of its REST API. It stands between a client and the simulated GitHub, so
// that both stay true to GitHub. For tests only.
package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// Description is GitHub's REST API as its document tells it. It is large; load
// it once.
type Description struct {
	router routers.Router
	errors *openapi3.Schema
}

// Load reads a description from a file: api.github.com.json of @octokit/openapi.
func Load(file string) (*Description, error) {
	// The document's own slips make Validate refuse it; what is used of it is
	// checked by being used.
	document, err := openapi3.NewLoader().LoadFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the API description %s: %w", file, err)
	}
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder) // of a rendered text
	document.Servers = openapi3.Servers{{URL: "/"}}
	addConclusions(document.Components.Schemas)
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		return nil, fmt.Errorf("route the API description %s: %w", file, err)
	}
	schema := document.Components.Schemas["basic-error"]
	if schema == nil || schema.Value == nil {
		return nil, fmt.Errorf("read the API description %s: it has no schema basic-error", file)
	}
	return &Description{router: router, errors: schema.Value}, nil
}

// Validate reports each request, and each answer of next, that the description
// does not have; a path that it does not know is reported as well. Traffic is
// passed on unchanged, with or without GHES's prefix.
func (d *Description) Validate(next http.Handler, report func(error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		asked, err := d.request(r, body)
		if err != nil {
			report(fmt.Errorf("request %s %s: %w", r.Method, r.URL, err))
		}
		kept := httptest.NewRecorder()
		next.ServeHTTP(kept, r)
		if asked != nil {
			if err := d.answer(r.Context(), asked, kept); err != nil {
				report(fmt.Errorf("answer %d to %s %s: %w", kept.Code, r.Method, r.URL, err))
			}
		}
		send(w, kept)
	})
}

// Judge reports each violation in the calls that githubtest.Record wrote.
func (d *Description) Judge(ctx context.Context, recorded io.Reader, report func(error)) error {
	lines := json.NewDecoder(recorded)
	for {
		var call githubtest.Recorded
		if err := lines.Decode(&call); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read recorded calls: %w", err)
		}
		request, err := http.NewRequestWithContext(ctx, call.Method, call.URL, bytes.NewReader(call.Body))
		if err != nil {
			return fmt.Errorf("read recorded calls: %w", err)
		}
		request.Header = call.Header
		d.Validate(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			maps.Copy(w.Header(), call.AnswerHeader)
			w.WriteHeader(call.Status)
			_, _ = w.Write(call.Answer) // into memory
		}), report).ServeHTTP(httptest.NewRecorder(), request)
	}
}

func send(w http.ResponseWriter, kept *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), kept.Header())
	w.WriteHeader(kept.Code)
	// A client that went away is its own test's business.
	_, _ = w.Write(kept.Body.Bytes())
}

var options = &openapi3filter.Options{
	AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
	IncludeResponseStatus:             true,
	RejectWhenRequestBodyNotSpecified: true,
	SkipSettingDefaults:               true,
}

// request finds the operation and holds the request against it. Without an
// operation there is nothing to hold the answer against either.
func (d *Description) request(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	plain := r.Clone(r.Context())
	plain.URL.RawPath = canonical(r.URL.EscapedPath())
	path, err := unescape(plain.URL.RawPath)
	if err != nil {
		return nil, err
	}
	plain.URL.Path = path
	body = documented(r.Method, plain.URL.Path, body)
	plain.Body, plain.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	route, params, err := d.router.FindRoute(plain)
	if err != nil {
		return nil, fmt.Errorf("%s is not in the description: %w", plain.URL.Path, err)
	}
	input := &openapi3filter.RequestValidationInput{Request: plain, PathParams: params, Route: route, Options: options}
	return input, openapi3filter.ValidateRequest(r.Context(), input)
}

// everywhere are the answers that GitHub gives to any request, and its document
// lists for some operations only.
var everywhere = map[int]bool{
	http.StatusBadRequest: true, http.StatusUnauthorized: true, http.StatusForbidden: true, http.StatusNotFound: true,
}

func (d *Description) answer(ctx context.Context, asked *openapi3filter.RequestValidationInput, kept *httptest.ResponseRecorder) error {
	if asked.Route.Operation.Responses.Status(kept.Code) == nil && everywhere[kept.Code] {
		return d.plainError(kept)
	}
	if kept.Code == http.StatusNoContent && kept.Body.Len() > 0 {
		return fmt.Errorf("it has a body: %q", kept.Body.String())
	}
	return openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: kept.Code, Header: kept.Header(),
		Body: io.NopCloser(bytes.NewReader(kept.Body.Bytes())), Options: options,
	})
}

func isJSON(header http.Header) bool {
	return strings.HasPrefix(header.Get("Content-Type"), "application/json")
}
