package egress_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/stream"
)

// uses is a server whose answers use so much.
func uses(t *testing.T, input, output int) *receiver {
	t.Helper()
	return newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"usage":{"input_tokens":%d,"output_tokens":%d}}`, input, output)
	})
}

// However little an answer used, it is told when it has ended.
func TestLittleIsToldAtTheEnd(t *testing.T) {
	d := newDesk(t, uses(t, 20, 10).URL, nil)
	d.ask(messages, `{"model":"big"}`)
	settled(t, d)
	if got, want := d.model.Spent().Usage, (stream.Usage{Input: 20, Output: 10}); got != want {
		t.Errorf("told %+v, want %+v", got, want)
	}
}

// A budget is used when nothing of it is left.
func TestBudgetIsUsedToItsEnd(t *testing.T) {
	for name, budget := range map[string]egress.Budget{"tokens": {Tokens: 1_000_000}, "dollars": {USD: 1}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, uses(t, 1_000_000, 0).URL, func(m *egress.Model) { m.Budget = budget })
			for _, want := range []int{http.StatusOK, http.StatusForbidden} {
				if got := d.ask(messages, `{"model":"big"}`); got.StatusCode != want {
					t.Errorf("answer %d %s, want %d", got.StatusCode, got.text, want)
				}
			}
		})
	}
}

// Who was let in before the budget was used, and asks after that, is cut off
// before anybody is paid.
func TestBudgetThatIsUsedMeanwhile(t *testing.T) {
	const body = `{"model":"big"}`
	server := uses(t, 100, 0)
	d := newDesk(t, server.URL, func(m *egress.Model) { m.Budget.Tokens = 100 })
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	answers := bufio.NewReader(conn)
	// 100 Continue comes when the body is read for, past the question whether
	// anything is left.
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: model\r\nX-Api-Key: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", messages, dummy, len(body))
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("answer %q, %v", line, err)
	}
	_, _ = answers.ReadString('\n')
	if got := d.ask(messages, body); got.StatusCode != http.StatusOK {
		t.Fatalf("answer %d %s", got.StatusCode, got.text)
	}
	_, _ = io.WriteString(conn, body)
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if hits := len(server.hits()); answer.StatusCode != http.StatusForbidden || hits != 1 {
		t.Errorf("answer %d after %d requests, want 403 after one", answer.StatusCode, hits)
	}
}
