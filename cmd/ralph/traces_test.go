package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected are the spans that reached a collector.
type collected struct {
	mu    sync.Mutex
	spans map[string]*otlp.Span // by their ids
	wire  strings.Builder
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent otlp.TracesData
	if err == nil {
		err = proto.Unmarshal(body, &sent)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wire.Write(body)
	for _, resource := range sent.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans[string(span.GetSpanId())] = span
			}
		}
	}
}

// below reports whether a span of a name lies below one of another, with attributes.
func (c *collected) below(name, above string, with ...string) bool {
	for _, span := range c.spans {
		if span.GetName() != name || c.spans[string(span.GetParentSpanId())].GetName() != above {
			continue
		}
		has := 0
		for _, a := range span.GetAttributes() {
			for _, want := range with {
				if key, value, _ := strings.Cut(want, "="); a.GetKey() == "ralph."+key && strings.Contains(a.GetValue().String(), value) {
					has++
				}
			}
		}
		if has == len(with) {
			return true
		}
	}
	return false
}

// roots counts the spans that lie below no other.
func (c *collected) roots() (n int) {
	for _, span := range c.spans {
		if len(span.GetParentSpanId()) == 0 {
			n++
		}
	}
	return n
}

// traced returns a scene whose agent writes its environment to a file, at a price.
func traced(t *testing.T) *scene {
	t.Helper()
	return newScene(t, func(s *scene) {
		script := "-- 1/run --\nenv >env.txt\ngit add env.txt\ngit commit -qm 'feat: env'\n-- 1/cost --\nusd: 0.25\ninput: 70\noutput: 30\n-- 1/claim --\nUS-001: done\n"
		if err := write(s.path("script.txtar"), []byte(script)); err != nil {
			t.Fatal(err)
		}
	})
}

var untested = []string{"SET_proof=unbroken", "INPUT_CHECKS=true", "SET_limits.maxIterations=1", "SET_review.agent="}

// A job with a collector in its environment sends its run there, and no word of the
// collector reaches the agent. The job's token is in no span.
func TestAJobSendsTraces(t *testing.T) {
	t.Parallel()
	c := &collected{spans: map[string]*otlp.Span{}}
	collector := httptest.NewServer(c)
	t.Cleanup(collector.Close)
	s := traced(t)
	if code := s.end(s.begin(append(untested, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_TIMEOUT=600000", "OTEL_EXPORTER_OTLP_HEADERS=x-key=1,key-of-the-collector")...)); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, want := range [][]string{
		{"run", "", "cost_usd=0.25", "tokens.input=70", "stop_reason=max_iterations"},
		{"iteration", "run", "iteration=1", "story=US-001"},
		{"agent", "iteration", "cost_usd=0.25", "tokens.input=70", "tokens.output=30"},
		{"check", "run", "where=base"},
		{"check", "iteration", "passed=true"},
		{"proof", "iteration", "passed=true"},
		{"push", "run", "commit=" + s.run().Published.Pushed},
	} {
		if !c.below(want[0], want[1], want[2:]...) {
			t.Errorf("no span %s below %q with %q in\n%v", want[0], want[1], want[2:], c.spans)
		}
	}
	if roots := c.roots(); roots != 1 {
		t.Errorf("%d traces, want one: %v", roots, c.spans)
	}
	if strings.Contains(c.wire.String(), token) {
		t.Error("a span holds the job's token")
	}
	if env := s.must("show", s.run().Branch+":env.txt"); strings.Contains(env, "OTEL") || strings.Contains(env, "key-of-the-collector") || !strings.Contains(env, "PATH=") {
		t.Errorf("the agent's environment is\n%s", env)
	}
	logs, _ := os.ReadDir(s.dir)
	for _, log := range logs {
		if said, err := os.ReadFile(s.path(log.Name())); err == nil && strings.Contains(string(said), "key-of-the-collector") {
			t.Errorf("%s holds the collector's key", log.Name())
		}
	}
}

// A collector that never answers, or is away, changes nothing of a run, and the log says
// that spans are missing.
func TestAJobNeedsNoCollector(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(release) })
	away := httptest.NewServer(nil)
	away.Close()
	for name, url := range map[string]string{"hangs": hangs.URL, "away": away.URL} {
		t.Run(name, func(t *testing.T) {
			s := traced(t)
			l := s.begin(append(untested, "OTEL_EXPORTER_OTLP_ENDPOINT="+url)...)
			if code := s.end(l); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			if pulls := s.Pulls(shop); len(pulls) != 1 || !strings.Contains(pulls[0].Body, "✅ Documents only") {
				t.Errorf("pull requests %+v, want one that is proven", pulls)
			}
			said, err := os.ReadFile(l.log)
			if err != nil || strings.Count(string(said), "traces could not be sent") != 1 {
				t.Errorf("the log says (%v)\n%s", err, said)
			}
		})
	}
}
