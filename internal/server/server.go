// Package server is the entry for a GitHub App's webhooks. It accepts
// deliveries, starts jobs in GitHub Actions, and reads missed deliveries from
// GitHub's own log. It stores nothing over a restart and has no rules of its
// own: package trigger decides, and the job checks permissions.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// Server is what a GitHub App needs to be served.
type Server struct {
	Access   github.Access // as whom, and where its GitHub is; it names no repository
	Secret   string        // with which GitHub signs what it delivers
	Rules    trigger.Rules // what wakes us in any repository
	Workflow string        // the file that is started there
	Audience string        // audience that a job's OIDC token must have; empty: no exchange
	Issuer   string        // of jobs' identities; that of Access's GitHub where empty
	Log      *slog.Logger
	Now      func() time.Time
	Limits   Limits
}

// Limits are what the server has patience and room for.
type Limits struct {
	Slow    time.Duration // for a request to arrive, and for an answer to be taken
	Queue   int           // deliveries that wait for GitHub Actions
	Workers int           // that start them
	Every   time.Duration // between two looks at GitHub's log
	Grace   time.Duration // to end what was taken in, when asked to stop
}

// Usual suits all but tests. GitHub itself hangs up after ten seconds.
var Usual = Limits{Slow: 10 * time.Second, Queue: 256, Workers: 4, Every: 3 * time.Minute, Grace: 10 * time.Second}

type service struct {
	Server
	hook    *github.Hook
	memory  *memory
	seen    time.Time // of GitHub's log: nothing before it is left to do
	metrics *metrics
	queue   chan order
	reading chan struct{} // as many as read a body at once
	closing chan struct{}
	jobs    *identities // nil: none is traded
}

func (s Server) open(ctx context.Context) (*service, error) {
	if len(s.Secret) < shortest {
		return nil, fault.Usage(fmt.Sprintf("the webhook's secret has less than %d characters", shortest),
			"make one with `openssl rand -hex 32`, and give it here and in the App's settings", nil)
	}
	if s.Access.HTTP == nil { // each repository has a client of its own, and each job's identity
		s.Access.HTTP = github.Out(*cmp.Or(s.Access.Retry, &github.DefaultRetryPolicy))
	}
	hook, err := github.OpenHook(s.Access)
	if err != nil {
		return nil, err
	}
	d := &service{
		Server: s, hook: hook, memory: newMemory(remembered), queue: make(chan order, s.Limits.Queue),
		reading: make(chan struct{}, readers), closing: make(chan struct{}),
	}
	d.metrics = measure(func() float64 { return float64(len(d.queue)) })
	if s.Audience != "" {
		d.jobs, err = s.identities(ctx)
	}
	return d, err
}

// shortest cannot be guessed before the attempts are noticed.
const shortest = 16

// Listen is where to answer.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.Usage("cannot listen at "+address, "name a free one as HOST:PORT with `--listen`", err)
	}
	return l, nil
}

// Serve answers on l until ctx is done, and ends what it has taken in.
func (s Server) Serve(ctx context.Context, l net.Listener) error {
	d, err := s.open(ctx)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	work, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	var workers sync.WaitGroup
	for range s.Limits.Workers {
		workers.Go(func() { d.work(work) })
	}
	var watch sync.WaitGroup
	watching, unwatch := context.WithCancel(ctx)
	defer unwatch()
	watch.Go(func() { d.watch(watching) })
	web, failed := serve(l, d.handler(), d.Log, d.Limits)
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	unwatch()
	d.end(ctx, web, abandon, func() { watch.Wait(); workers.Wait() })
	return err
}

// end handles waiting deliveries within the grace. GitHub's log keeps the rest.
func (d *service) end(ctx context.Context, web *http.Server, abandon func(), wait func()) {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.Limits.Grace)
	defer cancel()
	shutdown(grace, web)
	close(d.closing)
	done := make(chan struct{})
	go func() { wait(); close(done) }()
	select {
	case <-done:
	case <-grace.Done():
		abandon()
		<-done
	}
	d.Log.Info("stopped", "waiting", len(d.queue))
}

// serve answers on l. failed gets the error with which it ends.
func serve(l net.Listener, handler http.Handler, log *slog.Logger, limits Limits) (web *http.Server, failed <-chan error) {
	web = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: limits.Slow, ReadTimeout: limits.Slow, WriteTimeout: 3 * limits.Slow, IdleTimeout: 6 * limits.Slow,
		MaxHeaderBytes: 64 << 10,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	log.Info("listening", "address", l.Addr().String())
	return web, ended
}

// shutdown closes the connections that are still open when the grace ends.
func shutdown(grace context.Context, web *http.Server) {
	if web.Shutdown(grace) != nil {
		_ = web.Close()
	}
}

func (d *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhook", d.webhook)
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.metrics.all, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	if d.jobs != nil {
		mux.HandleFunc("POST /token", d.token)
	}
	return mux
}

func answer(w http.ResponseWriter, status int, said string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, said) // who has hung up need not know
}

// outcome is what happened to a delivery; a metric has a line for each.
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
	postponed  outcome = "postponed" // GitHub could not be reached, and is asked again
)

type metrics struct {
	all        *prometheus.Registry
	deliveries *prometheus.CounterVec
	seconds    prometheus.Histogram
}

func measure(waiting func() float64) *metrics {
	m := &metrics{
		all:        prometheus.NewRegistry(),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ralph_deliveries_total", Help: "Deliveries by result."}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ralph_dispatch_seconds", Help: "Time to start a job.", Buckets: prometheus.ExponentialBuckets(.05, 2, 12),
		}),
	}
	m.all.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.deliveries, m.seconds, prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "ralph_queue_length", Help: "Deliveries whose job has not started yet."}, waiting))
	for _, o := range []outcome{dispatched, already, unwanted, replayed, forged, malformed, huge, busy, failed, postponed} {
		m.deliveries.WithLabelValues(string(o)) // a counter that is not there yet raises no alarm
	}
	return m
}

func (m *metrics) count(o outcome) { m.deliveries.WithLabelValues(string(o)).Inc() }
