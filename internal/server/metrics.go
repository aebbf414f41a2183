package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// outcome is what became of a delivery. The set is closed: a metric has a line
// for each.
type outcome string

const (
	dispatched outcome = "dispatched"
	already    outcome = "already_started" // by whoever was here before us
	unwanted   outcome = "not_for_us"
	replayed   outcome = "replayed"
	forged     outcome = "forged"
	malformed  outcome = "malformed"
	huge       outcome = "too_large"
	busy       outcome = "busy"
	failed     outcome = "failed"
	postponed  outcome = "postponed" // GitHub could not be reached, and is asked again
)

// metrics are what is counted for those who keep the server.
type metrics struct {
	all        *prometheus.Registry
	deliveries *prometheus.CounterVec
	seconds    prometheus.Histogram
}

func measure(waiting func() float64) *metrics {
	m := &metrics{
		all:        prometheus.NewRegistry(),
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ralph_deliveries_total", Help: "Deliveries, by what became of them."}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ralph_dispatch_seconds", Help: "How long it took to start a job.", Buckets: prometheus.ExponentialBuckets(.05, 2, 12),
		}),
	}
	m.all.MustRegister(m.deliveries, m.seconds, prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: "ralph_queue_length", Help: "Deliveries that wait for their job to be started."}, waiting))
	for _, o := range []outcome{dispatched, already, unwanted, replayed, forged, malformed, huge, busy, failed, postponed} {
		m.deliveries.WithLabelValues(string(o)) // a counter that is not there yet raises no alarm
	}
	return m
}

func (m *metrics) count(o outcome) { m.deliveries.WithLabelValues(string(o)).Inc() }

func (m *metrics) page() http.Handler { return promhttp.HandlerFor(m.all, promhttp.HandlerOpts{}) }
