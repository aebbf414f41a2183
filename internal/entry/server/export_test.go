package server

import (
	"fmt"
	"log/slog"
	"time"
)

// Memory returns the methods of a memory of that size.
func Memory(size int) (add func(key string) bool, forget func(key string)) {
	m := newMemory(size)
	return m.add, m.forget
}

// AcceptedOf delivers a signed body so many times, with new ids, to a server that remembers less. It returns how many
// jobs would start.
func AcceptedOf(event string, body []byte, times, remembers int) int {
	d := &service{
		Server: Server{Log: slog.New(slog.DiscardHandler), Now: time.Now}, metrics: newMetrics(func() float64 { return 0 }),
		ids: newMemory(remembers), contents: newMemory(remembers), queue: make(chan order, times),
	}
	for n := range times {
		_ = d.accept(fmt.Sprint(n), event, body) // the queue tells
	}
	return len(d.queue)
}
