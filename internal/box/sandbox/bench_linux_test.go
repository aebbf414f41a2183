package sandbox_test

import (
	"bytes"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

func confining() []sandbox.Level {
	return here(sandbox.None, sandbox.Namespace, sandbox.Notify)
}

// BenchmarkLaunch tells what a start costs, also as a multiple of one without a
// sandbox.
func BenchmarkLaunch(b *testing.B) {
	var bare float64
	for _, level := range confining() {
		b.Run(string(level), func(b *testing.B) {
			w := testConfig(b, level, users()[0])
			run := w.Run(new(process.Runner).Run)
			for b.Loop() {
				if _, err := run(b.Context(), process.Command{Argv: []string{"/bin/true"}, Dir: "/"}); err != nil {
					b.Fatal(err)
				}
			}
			ratio(b, &bare, float64(b.Elapsed())/float64(b.N))
		})
	}
}

// BenchmarkConnect tells what a connect to the proxy costs.
func BenchmarkConnect(b *testing.B) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	var bare float64
	for _, level := range confining() {
		b.Run(string(level), func(b *testing.B) {
			w := testConfig(b, level, users()[0])
			w.Ports = portsOf(l)
			c := playing(b, &w, "connects", strconv.Itoa(b.N), l.Addr().String())
			var out bytes.Buffer
			c.Stdout, c.Dir = &out, "/"
			if _, err := w.Run(new(process.Runner).Run)(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			took, err := time.ParseDuration(strings.TrimSpace(out.String()))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(took)/float64(b.N), "inside-ns/op")
			ratio(b, &bare, float64(took)/float64(b.N))
		})
	}
}

func ratio(b *testing.B, bare *float64, each float64) {
	b.Helper()
	if *bare == 0 || strings.HasSuffix(b.Name(), string(sandbox.None)) {
		*bare = each
	}
	b.ReportMetric(each / *bare, "x-bare")
}

// playConnects connects N times to ADDR, waits for its end each time, and says
// how long all took.
func playConnects(args []string) {
	began := time.Now()
	for range number(args[0]) {
		c, err := net.Dial("tcp4", args[1])
		must(err)
		_, _ = c.Read(make([]byte, 1))
		_ = c.Close()
	}
	fmt.Println(time.Since(began))
}
