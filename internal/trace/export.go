package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter keeps errors for the end: they are never the run's.
type exporter struct {
	sdk.SpanExporter

	mu  sync.Mutex
	err error // the newest
}

// collector is an exporter to where the environment says that traces go; nil: nowhere,
// and why. All else the SDK reads from the environment itself.
func collector(ctx context.Context, getenv func(string) string) (*exporter, string) {
	to := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	if to == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, ""
	}
	if p := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL")); p != "" && p != "http/protobuf" {
		return nil, fmt.Sprintf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: only http/protobuf is supported", p)
	}
	if at, err := url.Parse(to); err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, "the endpoint of OTEL_EXPORTER_OTLP is not an address with http or https"
	}
	// A span that is lost is worth no second try: that would hold up the end of the run.
	client, err := otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return nil, err.Error()
	}
	return &exporter{SpanExporter: client}, ""
}

// ExportSpans sends spans.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		if wrong, is := errors.AsType[*url.Error](err); is {
			err = wrong.Err // without the address, which may hold a key
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.err = err
	}
	return nil
}

func (e *exporter) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}
