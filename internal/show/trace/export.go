package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// collector returns an exporter to where the environment says that traces go; nil: nowhere,
// and why. All else the SDK reads from the environment itself.
func collector(ctx context.Context, getenv func(string) string) (sdk.SpanExporter, string) {
	to := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	if to == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, ""
	}
	protocol := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	if protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Sprintf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: only http/protobuf is supported", protocol)
	}
	if !isHTTP(to) {
		return nil, "the endpoint of OTEL_EXPORTER_OTLP is not an address with http or https"
	}
	silence(otel.SetLogger)
	// A span that is lost is worth no second try: that would hold up the end of the run.
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return nil, err.Error()
	}
	return client, ""
}

func isHTTP(address string) bool {
	at, err := url.Parse(address)
	if err != nil || at.Host == "" {
		return false
	}
	return at.Scheme == "http" || at.Scheme == "https"
}

// silence sets a logger that logs nothing, the zero one. The SDK would print headers that it
// cannot read, which hold keys.
func silence[T any](set func(T)) {
	var none T
	set(none)
}

// statusIn finds the status of an answer in the SDK's error.
var statusIn = pattern.Of(`: ([1-5][0-9][0-9] [A-Za-z ]+) \(body: `)

// reason is why spans were not sent, without the address, which may hold a key, and
// without the collector's own words.
func reason(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	if found := statusIn.FindStringSubmatch(err.Error()); found != nil {
		return errors.New("the collector answered " + found[1])
	}
	return errors.New("the collector did not take all of them")
}
