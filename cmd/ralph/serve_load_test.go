package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// officeSecret signs what the deluge delivers.
const officeSecret = "shared with github alone"

// deluge is a GitHub that delivers a lot to a server.
type deluge struct {
	testing.TB
	town   *town
	url    string            // of the server; empty until one is started
	kind   map[string][]byte // payloads by label, each with a mark for its number
	next   atomic.Int64
	wanted int // jobs
	http   *http.Client
}

// mark is where a payload gets its number.
const mark = "number-00000000"

func newDeluge(tb testing.TB) *deluge {
	tb.Helper()
	town, err := found(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = town.Close() })
	if err := town.publish(tb.TempDir()); err != nil {
		tb.Fatal(err)
	}
	town.AddApp(githubtest.App{
		ID: 12, Slug: "ralph-loop", Owner: "octo", Key: &githubtest.Key().PublicKey, Installation: 345, Repos: []string{shop}, Permissions: githubtest.WriteAll(),
	})
	issue := town.AddIssue(shop, githubtest.Issue{Title: mark, Body: strings.Repeat("A sentence of an issue. ", 400), Author: maintainer}).Number
	d := &deluge{TB: tb, town: town, kind: map[string][]byte{}, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	for _, label := range []string{"ralph", "bug"} {
		town.AddLabel(shop, issue, label)
		if d.kind[label], err = town.LabelEvent(githubtest.Event{Repo: shop, Issue: issue, Sender: maintainer}, label); err != nil {
			tb.Fatal(err)
		}
	}
	return d
}

// serve starts a server as a program of its own.
func (d *deluge) serve(program string) {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Context())
	cmd := exec.CommandContext(ctx, program, "serve", "--app-id", "12", "--listen", "127.0.0.1:0", "--api-url", d.town.URL+"/api/v3")
	cmd.Env = append(os.Environ(), "RALPH_APP_PRIVATE_KEY="+githubtest.PEM(githubtest.Key()), "RALPH_WEBHOOK_SECRET="+officeSecret)
	out, err := cmd.StderrPipe()
	if err != nil {
		d.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	var first struct{ Address string }
	log := bufio.NewReader(out)
	line, err := log.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &first) != nil || first.Address == "" {
		d.Fatalf("the server begins with %q (%v)", line, err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, log)
	}()
	d.Cleanup(func() { cancel(); <-read; _ = cmd.Wait() })
	d.url = "http://" + first.Address
}

// delivery returns the next one of a kind, signed with a secret.
func (d *deluge) delivery(label, secret string) *http.Request {
	n := d.next.Add(1)
	body := bytes.Replace(d.kind[label], []byte(mark), fmt.Appendf(nil, "number-%08d", n), 1)
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(body)
	r, err := http.NewRequestWithContext(d.Context(), http.MethodPost, d.url+"/webhook", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Github-Event": {"issues"}, "X-Github-Delivery": {fmt.Sprintf("0b989ba4-242f-11e5-81e1-%012d", n)},
		"X-Hub-Signature-256": {"sha256=" + hex.EncodeToString(sum.Sum(nil))},
	}
	return r
}

// send returns how a request was answered.
func (d *deluge) send(r *http.Request) int {
	resp, err := d.http.Do(r)
	if err != nil {
		d.Error(err)
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

func read(d *deluge, from io.ReadCloser) []byte {
	d.Helper()
	text, err := io.ReadAll(from)
	if err != nil {
		d.Fatal(err)
	}
	return text
}

// breakOff begins a delivery, and hangs up.
func (d *deluge) breakOff() {
	d.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(d.Context(), "tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		d.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /webhook HTTP/1.1\r\nHost: ralph\r\nContent-Type: application/json\r\nX-GitHub-Event: issues\r\n"+
		"X-GitHub-Delivery: 0b989ba4-242f-11e5-81e1-999999999999\r\nContent-Length: 10000\r\n\r\n{"); err != nil {
		d.Error(err)
	}
	_ = conn.Close()
}

// metric returns a value that the server tells of itself.
func (d *deluge) metric(name string) float64 {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), http.MethodGet, d.url+"/metrics", http.NoBody)
	if err != nil {
		d.Fatal(err)
	}
	resp, err := d.http.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindSubmatch(text)
	if found == nil {
		d.Fatalf("no %s (%v) in\n%s", name, err, text)
	}
	value, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		d.Fatal(err)
	}
	return value
}

// counter is of the deliveries that ended so.
func counter(outcome string) string {
	return fmt.Sprintf("ralph_deliveries_total{outcome=%q}", outcome)
}

// BenchmarkServe is ten thousand deliveries in a row by eight connections, beside a
// server that only reads them and holds their signature to the secret.
func BenchmarkServe(b *testing.B) {
	const many, lines = 10_000, 8
	w := newWorkshop(b)
	bare := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		sum := hmac.New(sha256.New, []byte(officeSecret))
		sum.Write(body)
		if err != nil || !hmac.Equal([]byte("sha256="+hex.EncodeToString(sum.Sum(nil))), []byte(r.Header.Get("X-Hub-Signature-256"))) {
			to.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer bare.Close()
	for _, label := range []string{"bug", "ralph"} {
		b.Run(map[string]string{"bug": "ignored", "ralph": "start-jobs"}[label], func(b *testing.B) {
			var floor, ours, slow, peak []float64
			for b.Loop() {
				d := newDeluge(b)
				d.url = bare.URL
				took, _ := d.pour(label, many, lines)
				floor = append(floor, took.Seconds())
				d.serve(w.path("bin/ralph"))
				took, each := d.pour(label, many, lines)
				slices.Sort(each)
				ours, slow = append(ours, took.Seconds()), append(slow, float64(each[len(each)*99/100].Microseconds())/1000)
				peak = append(peak, d.metric("process_resident_memory_bytes")/(1<<20))
				b.ReportMetric(d.metric(counter("busy")), "refused")
			}
			b.ReportMetric(many/median(ours), "deliveries/s")
			b.ReportMetric(median(ours)/median(floor), "x-bare")
			b.ReportMetric(median(slow), "p99-ms")
			b.ReportMetric(slices.Max(peak), "MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// pour delivers so many, and tells how long that and each of them took.
func (d *deluge) pour(label string, many, lines int) (took time.Duration, each []time.Duration) {
	d.Helper()
	var left atomic.Int64
	left.Store(int64(many))
	all := make([][]time.Duration, lines)
	var senders sync.WaitGroup
	began := time.Now()
	for i := range lines {
		senders.Go(func() {
			for left.Add(-1) >= 0 {
				r, sent := d.delivery(label, officeSecret), time.Now()
				if status := d.send(r); status/100 != 2 && status != http.StatusServiceUnavailable {
					d.Errorf("a delivery is answered with %d", status)
				}
				all[i] = append(all[i], time.Since(sent))
			}
		})
	}
	senders.Wait()
	return time.Since(began), slices.Concat(all...)
}
