// Package server is the entry for a GitHub App's webhooks. It accepts deliveries, starts jobs in GitHub Actions, and
// reads missed deliveries from GitHub's log. It stores nothing on disk and has no rules of its own: package trigger
// decides, and the job checks permissions.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Server has the settings of a server for a GitHub App.
type Server struct {
	Access github.Access // the App and its GitHub, without a repository
	Secret string        // with which GitHub signs deliveries
	Rules  trigger.Rules // for all repositories
	Log    *slog.Logger
	Now    func() time.Time
	Limits Limits
}

// Limits are the limits of a server.
type Limits struct {
	Request     time.Duration // timeout for reading a request
	Queue       int           // deliveries that wait for a worker
	Workers     int           // that start jobs
	LogInterval time.Duration // between two reads of GitHub's log
	Grace       time.Duration // for accepted deliveries when the server has to stop
}

// DefaultLimits are for all but tests. GitHub itself ends a request after ten seconds.
var DefaultLimits = Limits{
	Request:     10 * time.Second,
	Queue:       256,
	Workers:     4,
	LogInterval: 3 * time.Minute,
	Grace:       10 * time.Second,
}

type service struct {
	Server
	app          *github.Client // speaks as the App
	ids          *memory        // of deliveries, missed ones included
	contents     *memory        // of deliveries that start jobs
	began        time.Time
	handledUntil time.Time   // all deliveries in GitHub's log before this time are handled
	unfinished   atomic.Bool // but for some that were forgotten, to be handled again
	metrics      *metrics
	queue        chan order
	closing      chan struct{}
}

func (s Server) open() (*service, error) {
	if len(s.Secret) < minSecret {
		return nil, fault.Usage(fmt.Sprintf("the webhook's secret has less than %d characters", minSecret),
			"create one with `openssl rand -hex 32`, and set it here and in the App's settings", nil)
	}
	app, err := github.ConnectApp(s.Access)
	if err != nil {
		return nil, err
	}
	d := &service{
		Server:   s,
		app:      app,
		began:    s.Now(),
		ids:      newMemory(memorySize),
		contents: newMemory(memorySize),
		queue:    make(chan order, s.Limits.Queue),
		closing:  make(chan struct{}),
	}
	d.metrics = newMetrics(func() float64 { return float64(len(d.queue)) })
	return d, nil
}

const minSecret = 16 // characters; too long to guess

// Listen opens the server's listener.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.Usage("cannot listen at "+address, "set a free address with `--listen HOST:PORT`", err)
	}
	return l, nil
}

// Serve answers requests until ctx is done, and then handles accepted deliveries within the grace.
func (s Server) Serve(ctx context.Context, l net.Listener) error {
	d, err := s.open()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	var workers sync.WaitGroup
	for range s.Limits.Workers {
		workers.Go(func() { d.work(working) })
	}
	var watch sync.WaitGroup
	watching, stopWatch := context.WithCancel(ctx)
	defer stopWatch()
	watch.Go(func() { d.watch(watching) })
	d.Log.Info("listening", "address", l.Addr().String())
	web := &http.Server{
		Handler:           d.handler(),
		ReadHeaderTimeout: s.Limits.Request,
		ReadTimeout:       s.Limits.Request,
		WriteTimeout:      3 * s.Limits.Request,
		IdleTimeout:       6 * s.Limits.Request,
		MaxHeaderBytes:    8 << 10, // a connection may hold ten times this, and anybody can open many
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	stopWatch()
	d.finish(ctx, web, stopWork, func() { watch.Wait(); workers.Wait() })
	return err
}

// finish handles waiting deliveries within the grace. The next server finds others in GitHub's log.
func (d *service) finish(ctx context.Context, web *http.Server, stopWork func(), wait func()) {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.Limits.Grace)
	defer cancel()
	if web.Shutdown(grace) != nil {
		_ = web.Close() // connections that are still open when the grace ends
	}
	close(d.closing)
	done := make(chan struct{})
	go func() { wait(); close(done) }()
	select {
	case <-done:
	case <-grace.Done():
		stopWork()
		<-done
	}
	d.Log.Info("stopped", "waiting", len(d.queue))
}

func (d *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhook", d.webhook)
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.metrics.all, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	return mux
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, text) // the client may be gone
}

// outcome is what happened to a delivery. It is a label of a metric.
type outcome string

const (
	dispatched outcome = "dispatched"
	already    outcome = "already_started" // by an earlier server
	unwanted   outcome = "not_for_us"
	replayed   outcome = "replayed"
	forged     outcome = "forged"
	malformed  outcome = "malformed"
	huge       outcome = "too_large"
	busy       outcome = "busy"
	failed     outcome = "failed"
	postponed  outcome = "postponed" // because GitHub cannot be reached
)

type metrics struct {
	all        *prometheus.Registry
	deliveries *prometheus.CounterVec
	seconds    prometheus.Histogram
}

func newMetrics(waiting func() float64) *metrics {
	m := &metrics{
		all: prometheus.NewRegistry(),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ralph_deliveries_total",
			Help: "Deliveries by result.",
		}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ralph_dispatch_seconds",
			Help:    "Time to start a job.",
			Buckets: prometheus.ExponentialBuckets(.05, 2, 12),
		}),
	}
	queueLength := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "ralph_queue_length",
		Help: "Deliveries whose job has not started yet.",
	}, waiting)
	m.all.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.deliveries,
		m.seconds,
		queueLength,
	)
	for _, o := range []outcome{
		dispatched, already, unwanted, replayed, forged, malformed, huge, busy, failed, postponed,
	} {
		m.deliveries.WithLabelValues(string(o)) // alerts need counters that begin at 0
	}
	return m
}

func (m *metrics) count(o outcome) { m.deliveries.WithLabelValues(string(o)).Inc() }
