package egress_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// BenchmarkTunnel compares the throughput with and without the proxy: "times" is
// how many times as long the proxy takes.
func BenchmarkTunnel(b *testing.B) {
	const size = 64 << 20
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 1<<20)
		for range size / len(block) {
			_, _ = w.Write(block)
		}
	}))
	defer server.Close()
	s := newTestProxy(b, func(s *testProxy) { s.to(server.Listener.Addr()) })
	fetch := func(client *http.Client, address string) time.Duration {
		began := time.Now()
		answer, err := client.Get(address)
		if err != nil {
			b.Fatal(err)
		}
		defer answer.Body.Close()
		if n, err := io.Copy(io.Discard, answer.Body); n != size || err != nil {
			b.Fatal(n, err)
		}
		return time.Since(began)
	}
	direct, through := server.Client(), s.client(server)
	var without, with time.Duration
	for b.Loop() {
		without += fetch(direct, server.URL)
		with += fetch(through, "https://example.com/")
	}
	b.SetBytes(size)
	b.ReportMetric(with.Seconds()/without.Seconds(), "times")
}

// BenchmarkConnect compares the cost of a new connection in the same way.
func BenchmarkConnect(b *testing.B) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	s := newTestProxy(b, func(s *testProxy) { s.to(server.Listener.Addr()) })
	config := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.ServerName = "example.com"
	shake := func(conn net.Conn) {
		defer conn.Close()
		if err := tls.Client(conn, config).Handshake(); err != nil {
			b.Fatal(err)
		}
	}
	var without, with time.Duration
	for b.Loop() {
		began := time.Now()
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		shake(conn)
		without += time.Since(began)
		began = time.Now()
		conn, err = net.Dial("tcp", s.address)
		if err != nil {
			b.Fatal(err)
		}
		l := &line{conn, nil}
		if _, err := io.WriteString(l.Conn, connect("example.com:443")); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(l.Conn, make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))); err != nil {
			b.Fatal(err)
		}
		shake(l.Conn)
		with += time.Since(began)
	}
	b.ReportMetric(with.Seconds()/without.Seconds(), "times")
}

// BenchmarkFirstByte measures how much later the first byte and each event arrive
// through the Model than directly.
func BenchmarkFirstByte(b *testing.B) {
	said := make(chan time.Time, 1)
	next := make(chan bool)
	server := newReceiver(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 2 {
			<-next
			said <- time.Now()
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	})
	d := newTestModel(b, server.URL, nil)
	ask := func(base string) (first, second time.Duration) {
		request := d.request(messages, `{"model":"big","stream":true}`)
		request.URL = address(b, base+messages)
		go func() { next <- true }()
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			b.Fatal(err)
		}
		defer answer.Body.Close()
		buffer := make([]byte, 1<<10)
		_, _ = io.ReadFull(answer.Body, buffer[:len(piece)])
		first = time.Since(<-said)
		next <- true
		_, _ = io.ReadFull(answer.Body, buffer[:len(piece)])
		return first, time.Since(<-said)
	}
	var direct, through, later [2]time.Duration
	for b.Loop() {
		direct[0], direct[1] = ask(server.URL)
		through[0], through[1] = ask(d.url)
		for i := range later {
			later[i] += through[i] - direct[i]
		}
	}
	b.ReportMetric(float64(later[0].Microseconds())/float64(b.N), "µs-first-byte")
	b.ReportMetric(float64(later[1].Microseconds())/float64(b.N), "µs-next-event")
}
