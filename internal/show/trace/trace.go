// Package trace turns the events of a run into OpenTelemetry spans: run, iteration,
// agent, check, proof and push. It takes each event as it is written to the journal, and
// sends the spans to a collector. It never fails or delays a run.
package trace

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Tracer makes spans of events. Nil makes none.
type Tracer struct {
	Options

	provider *sdk.TracerProvider
	failure  atomic.Pointer[error] // of the newest sending: it is never the run's

	mu        sync.Mutex
	run       trace.Span
	iteration trace.Span
	last      time.Time // of the newest event
	proof     time.Time // when the first check of the proof under way began
}

// Options are what a Tracer needs beside the environment.
type Options struct {
	Getenv  func(string) string
	Version string              // of this program
	Hide    func(string) string // takes secrets out of a text
	Say     func(string)        // a line for people, where spans could not be sent
}

// minCloseTimeout is how long the last spans may take; the collector's timeout can allow more.
const minCloseTimeout = 3 * time.Second

func (o Options) closeTimeout() time.Duration {
	ms, _ := strconv.Atoi(o.Getenv("OTEL_EXPORTER_OTLP_TIMEOUT"))
	return max(minCloseTimeout, time.Duration(ms)*time.Millisecond)
}

// New returns a tracer for the collector that the environment names; nil where it names none.
func New(ctx context.Context, o Options) *Tracer {
	e, why := collector(ctx, o.Getenv)
	if why != "" {
		o.Say("no traces are sent: " + why)
	}
	if e == nil {
		return nil
	}
	program := resource.NewSchemaless(
		attribute.String("service.name", "ralph"),
		attribute.String("service.version", o.Version),
	)
	if merged, err := resource.Merge(program, resource.Environment()); err == nil {
		program = merged
	}
	t := &Tracer{Options: o, provider: sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(program))}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { t.failure.Store(new(reason(err))) }))
	return t
}

// Around returns handle for events that the tracer gets as well.
func (t *Tracer) Around(handle func(journal.Run, journal.Event)) func(journal.Run, journal.Event) {
	if t == nil {
		return handle
	}
	return func(run journal.Run, event journal.Event) {
		handle(run, event)
		t.Event(run, event)
	}
}

// Event makes of an event what it ends or begins. run is the journal with it.
func (t *Tracer) Event(run journal.Run, event journal.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run == nil {
		if run.Stop != nil {
			return // what is saved of a run that has ended is no part of it
		}
		t.begin(run)
	}
	switch e := event.(type) { //nolint:gochecksumtype // the others end nothing
	case journal.IterationBegan:
		t.endIteration(run.Clock.Now)
		t.iteration = t.start(
			t.run, "iteration", run.Clock.Now,
			attribute.Int("ralph.iteration", e.Number),
			attribute.String("ralph.story", t.Hide(e.Story)),
		)
	case journal.AgentEnded:
		t.addAgent(run, e)
	case journal.CheckEnded:
		t.addCheck(run, e)
	case journal.ProofEnded:
		t.addProof(run, e)
	case journal.Pushed:
		t.addEnded(
			"push", t.last, run.Clock.Now, "",
			attribute.String("ralph.branch", t.Hide(e.Branch)),
			attribute.String("ralph.commit", e.SHA),
		)
	case journal.IterationEnded:
		if t.iteration != nil {
			t.iteration.SetAttributes(
				attribute.Bool("ralph.green", e.Green),
				attribute.Int("ralph.passed", len(e.Passed)),
				attribute.Int("ralph.rejected", len(e.Rejected)),
			)
		}
		t.endIteration(run.Clock.Now)
	case journal.RunStopped:
		t.stop(run, e)
	}
	t.last = run.Clock.Now
}

func (t *Tracer) begin(run journal.Run) {
	t.run = t.start(
		nil, "run", run.Clock.Now,
		attribute.String("ralph.run", run.ID),
		attribute.String("ralph.agent", t.Hide(run.Policy.Agent)),
		attribute.String("ralph.branch", t.Hide(run.Branch)),
		attribute.String("ralph.repository", t.Hide(run.Links.Repo)),
		attribute.Int("ralph.issue", run.Task.Number),
		attribute.Int("ralph.resumed", run.Clock.Resumed),
	)
}

func (t *Tracer) inner() trace.Span {
	if t.iteration != nil {
		return t.iteration
	}
	return t.run
}

// start begins a span; parent may be nil.
func (t *Tracer) start(parent trace.Span, name string, at time.Time, attributes ...attribute.KeyValue) trace.Span {
	ctx := context.Background()
	if parent != nil {
		ctx = trace.ContextWithSpan(ctx, parent)
	}
	tracer := t.provider.Tracer("github.com/ralph-loop/ralph")
	_, span := tracer.Start(ctx, name, trace.WithTimestamp(at), trace.WithAttributes(attributes...))
	return span
}

// addEnded adds a span that has already ended.
func (t *Tracer) addEnded(name string, from, to time.Time, failed string, attributes ...attribute.KeyValue) {
	span := t.start(t.inner(), name, from, attributes...)
	if failed != "" {
		span.SetStatus(codes.Error, t.Hide(failed))
	}
	span.End(trace.WithTimestamp(to))
}

func (t *Tracer) addAgent(run journal.Run, e journal.AgentEnded) {
	failed := ""
	if e.Failed || e.CannotRun || e.TimedOut {
		failed = "the agent failed: " + e.Why
	}
	attributes := tokens(e.Usage)
	attributes = append(attributes, attribute.Int("ralph.exit", e.Exit), attribute.Int("ralph.tools", e.Tools))
	attributes = append(attributes, cost(e.Cost)...)
	t.addEnded("agent", run.Clock.Now.Add(-e.Took()), run.Clock.Now, failed, attributes...)
}

func (t *Tracer) addCheck(run journal.Run, e journal.CheckEnded) {
	from := run.Clock.Now.Add(-e.Took())
	failed := ""
	if !e.Passed && e.Skipped == "" {
		failed = "the check failed"
	}
	if e.Where == journal.AtHead && t.proof.IsZero() {
		t.proof = from
	}
	t.addEnded(
		"check", from, run.Clock.Now, failed,
		attribute.String("ralph.check", t.Hide(e.Name)),
		attribute.String("ralph.where", string(e.Where)),
		attribute.Int("ralph.exit", e.Exit),
		attribute.Bool("ralph.passed", e.Passed),
	)
}

func (t *Tracer) addProof(run journal.Run, e journal.ProofEnded) {
	from := t.proof
	if from.IsZero() {
		from = t.last
	}
	failed := ""
	if !e.Passed {
		failed = "the proof failed: " + e.Why
	}
	t.proof = time.Time{}
	t.addEnded(
		"proof", from, run.Clock.Now, failed,
		attribute.String("ralph.commit", e.Commit),
		attribute.Bool("ralph.passed", e.Passed),
		attribute.Bool("ralph.reused", e.Reused),
		attribute.String("ralph.story", t.Hide(e.Story)),
		attribute.String("ralph.result", string(e.Result)),
	)
}

func (t *Tracer) stop(run journal.Run, e journal.RunStopped) {
	t.endIteration(run.Clock.Now)
	t.run.SetAttributes(tokens(run.Spent.Usage)...)
	t.run.SetAttributes(
		attribute.String("ralph.stop_reason", string(e.Reason)),
		attribute.String("ralph.status", string(e.Reason.Status())),
		attribute.Int("ralph.iterations", len(run.Iterations)),
		attribute.Int("ralph.stories_passed", run.PassedStories()),
	)
	t.run.SetAttributes(cost(stream.Cost{USD: run.Spent.CostUSD, Known: run.Spent.CostKnown})...)
	if !run.IsCompleted() {
		t.run.SetStatus(codes.Error, t.Hide(e.Why))
	}
	t.run.End(trace.WithTimestamp(run.Clock.Now))
	t.run = nil
}

func (t *Tracer) endIteration(at time.Time) {
	if t.iteration == nil {
		return
	}
	t.iteration.End(trace.WithTimestamp(at))
	t.iteration = nil
}

func tokens(u stream.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("ralph.tokens.input", u.Input),
		attribute.Int64("ralph.tokens.output", u.Output),
		attribute.Int64("ralph.tokens.cache_read", u.CacheRead),
		attribute.Int64("ralph.tokens.cache_write", u.CacheWrite),
	}
}

// cost is left out where it is unknown: 0 would be a cost.
func cost(c stream.Cost) []attribute.KeyValue {
	if !c.Known {
		return nil
	}
	return []attribute.KeyValue{attribute.Float64("ralph.cost_usd", c.USD)}
}

// Close ends what is open, and gives the last spans a short time; none once hard is closed.
func (t *Tracer) Close(ctx context.Context, hard <-chan struct{}) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.endIteration(t.last)
	if t.run != nil {
		t.run.End(trace.WithTimestamp(t.last))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.closeTimeout())
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- t.provider.Shutdown(ctx) }()
	var err error
	select {
	case err = <-closed:
	case <-hard:
		return
	}
	if failure := t.failure.Load(); err == nil && failure != nil {
		err = *failure
	}
	if err != nil {
		t.Say("traces could not be sent: " + t.Hide(err.Error()))
	}
}
