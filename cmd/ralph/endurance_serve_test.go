package main_test

import (
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

var soak = flag.Duration("soak", 2*time.Second, "how long TestSoakServe goes on")

// A soak has as many samples, and between two deliveries as long as ten thousand in a
// minute have.
const (
	soakSamples = 10
	soakPace    = time.Minute / 10_000
)

// TestSoakServe has a server take ten thousand deliveries a minute, most of them for
// others, some forged, known or cut off. With ten minutes and more GitHub is away for a
// tenth of the time, and the queue overflows. Each job is started once, and the server takes no more at the end
// than in the middle.
func TestSoakServe(t *testing.T) {
	d := newDeluge(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", home)
	d.serve("ralph")
	end, sample := time.Now().Add(*soak), time.NewTicker(*soak/soakSamples)
	defer sample.Stop()
	pace := time.NewTicker(soakPace)
	defer pace.Stop()
	taken, table := []takes{}, "deliveries  jobs  memory KiB  files  goroutines  bytes on disk\n"
	for n := 1; time.Now().Before(end) || len(taken) < soakSamples; n++ {
		select {
		case <-pace.C:
			d.deliverSome(n)
		case <-sample.C:
			l := d.takes(home)
			taken = append(taken, l)
			table += fmt.Sprintf("%10d  %4.0f  %10.0f  %5.0f  %10.0f  %13d\n", n, l.jobs, l.memory/1024, l.files, l.goroutines, l.disk)
			switch {
			case *soak < 10*time.Minute:
			case len(taken) == 3:
				away := githubtest.ServerError(http.StatusBadGateway)
				away.Times = -1
				d.town.Inject(away)
			case len(taken) == 4:
				d.town.Heal()
			}
		}
	}
	for late := time.After(5 * time.Minute); d.metric(counter("dispatched"))+d.metric(counter("already_started")) < float64(d.wanted); {
		select { // GitHub's log is read every three minutes
		case <-pace.C:
		case <-late:
			t.Fatalf("%v jobs were started, want %d", d.metric(counter("dispatched")), d.wanted)
		}
	}
	t.Logf("%s:\n%s", *soak, table)
	d.startedOnce()
	middle, last := taken[soakSamples/2], taken[soakSamples-1]
	if last.memory > 1.25*middle.memory+8<<20 || last.files > middle.files+8 || last.goroutines > middle.goroutines+16 || last.disk > 0 {
		t.Errorf("in the middle it took %+v, at the end %+v", middle, last)
	}
}

// deliverSome is the nth delivery of a soak, and what comes with it.
func (d *deluge) deliverSome(n int) {
	d.Helper()
	label, secret, want := "bug", officeSecret, http.StatusAccepted
	switch {
	case n%100 == 1:
		label = "ralph"
		d.wanted++
	case n%50 == 2:
		secret, want = "of somebody else", http.StatusUnauthorized
	}
	r := d.delivery(label, secret)
	body, err := r.GetBody()
	if err != nil {
		d.Fatal(err)
	}
	got := d.send(r)
	if got != want && (label != "ralph" || got != http.StatusServiceUnavailable) { // no room while GitHub is away
		d.Errorf("delivery %d is answered with %d, want %d", n, got, want)
	}
	if label == "ralph" {
		d.town.Deliver(githubtest.Delivery{GUID: r.Header.Get("X-Github-Delivery"), Event: "issues", Payload: read(d, body), At: time.Now(), Status: got})
	}
	switch n % 100 {
	case 3:
		again := r.Clone(d.Context())
		again.Body = body
		if got := d.send(again); got != http.StatusOK {
			d.Errorf("delivery %d is answered with %d when it comes again, want %d", n, got, http.StatusOK)
		}
	case 4:
		d.breakOff()
	}
}

// takes is what a server takes.
type takes struct {
	memory, files, goroutines, jobs float64
	disk                            int64
}

func (d *deluge) takes(home string) (l takes) {
	d.Helper()
	l = takes{d.metric("process_resident_memory_bytes"), d.metric("process_open_fds"), d.metric("go_goroutines"), d.metric(counter("dispatched")), 0}
	err := filepath.WalkDir(home, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		about, err := entry.Info()
		if err == nil {
			l.disk += about.Size()
		}
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return l
}

// startedOnce holds the jobs that GitHub started to the deliveries that wanted one.
func (d *deluge) startedOnce() {
	d.Helper()
	jobs := map[string]int{}
	for _, call := range d.town.Requests() {
		if call.Status == http.StatusNoContent && strings.HasSuffix(call.Path, "/ralph.yml/dispatches") {
			jobs[call.Body]++
		}
	}
	if len(jobs) != d.wanted {
		d.Errorf("%d different jobs were started, want %d", len(jobs), d.wanted)
	}
	for body, n := range jobs {
		if n != 1 {
			d.Errorf("%d times: %s", n, body)
		}
	}
}
