package environ_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// Checks get a person's environment, but for what is known to be secret.
func TestHarmless(t *testing.T) {
	got := environ.Harmless([]string{
		"PATH=/bin", "GOFLAGS=-mod=mod", "GITHUB_TOKEN=1", "NPM_TOKEN=2", "AWS_SECRET_ACCESS_KEY=3", "AWS_ACCESS_KEY_ID=4",
		"DB_PASSWORD=5", "ANTHROPIC_API_KEY=6", "client_secret=7", "GITHUB_OUTPUT=8", "JAVA_HOME=/j", "GIT_DIR=/elsewhere", "OTEL_EXPORTER_OTLP_ENDPOINT=http://c", "OTEL_EXPORTER_OTLP_HEADERS=a=b", "TOKENIZERS_PARALLELISM=false",
	})
	want := []string{"PATH=/bin", "GOFLAGS=-mod=mod", "JAVA_HOME=/j", "TOKENIZERS_PARALLELISM=false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Harmless (-want +got):\n%s", diff)
	}
}
