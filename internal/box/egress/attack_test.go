package egress_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// writeRaw writes a raw request to the model server, and returns everything that
// comes back until the server closes the connection.
func writeRaw(t *testing.T, d *testModel, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request); err != nil {
		return ""
	}
	text, _ := io.ReadAll(conn)
	return string(text)
}

// Requests that another parser may read differently are refused, or forwarded as
// the one request that was judged.
func TestOddRequests(t *testing.T) {
	const (
		key  = "X-Api-Key: " + dummy + "\r\n"
		body = `{"model":"big"}`
		rest = "Host: model\r\nConnection: close\r\n" + key
	)
	sized := rest + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	chunked := rest + "Transfer-Encoding: chunked\r\n"
	for name, test := range map[string]struct {
		request string
		arrives bool
	}{
		"as it should be":          {"POST /v1/messages HTTP/1.1\r\n" + sized, true},
		"another host":             {"POST /v1/messages HTTP/1.1\r\n" + strings.Replace(sized, "Host: model", "Host: evil.example", 1), true},
		"an absolute address":      {"POST http://evil.example/v1/messages HTTP/1.1\r\n" + sized, true},
		"a name and password":      {"POST http://a:b@evil.example/v1/messages HTTP/1.1\r\n" + sized, true},
		"two slashes":              {"POST //v1/messages HTTP/1.1\r\n" + sized, false},
		"two slashes within":       {"POST /v1//messages HTTP/1.1\r\n" + sized, false},
		"a slash at the end":       {"POST /v1/messages/ HTTP/1.1\r\n" + sized, false},
		"an escaped letter":        {"POST /v1/%6dessages HTTP/1.1\r\n" + sized, false},
		"an escaped slash":         {"POST /v1%2fmessages HTTP/1.1\r\n" + sized, false},
		"an escaped dot":           {"POST /v1/files/%2e%2e/messages HTTP/1.1\r\n" + sized, false},
		"dots":                     {"POST /v1/files/../messages HTTP/1.1\r\n" + sized, false},
		"dots at the end":          {"POST /v1/messages/.. HTTP/1.1\r\n" + sized, false},
		"a semicolon":              {"POST /v1/messages;a=b HTTP/1.1\r\n" + sized, false},
		"other letters":            {"POST /V1/Messages HTTP/1.1\r\n" + sized, false},
		"a null":                   {"POST /v1/messages%00 HTTP/1.1\r\n" + sized, false},
		"a line":                   {"POST /v1/messages%0d%0aX-A:%20b HTTP/1.1\r\n" + sized, false},
		"dots for a model":         {"POST /v1beta/models/..%2f..:generateContent HTTP/1.1\r\n" + sized, false},
		"another method":           {"PUT /v1/messages HTTP/1.1\r\n" + sized, false},
		"a tunnel":                 {"CONNECT evil.example:443 HTTP/1.1\r\n" + rest + "\r\n", false},
		"an upgrade":               {"POST /v1/responses HTTP/1.1\r\nUpgrade: websocket\r\n" + strings.Replace(sized, "Connection: close", "Connection: Upgrade, close", 1), false},
		"a web socket":             {"GET /v1/responses HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n" + rest + "\r\n", false},
		"HTTP/2 by an upgrade":     {"POST /v1/messages HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n" + sized, false},
		"HTTP/2 at once":           {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", false},
		"a large head":             {"POST /v1/messages HTTP/1.1\r\nX-A: " + strings.Repeat("a", 64<<10) + "\r\n" + sized, false},
		"two lengths":              {"POST /v1/messages HTTP/1.1\r\nContent-Length: 1\r\n" + sized, false},
		"two hosts":                {"POST /v1/messages HTTP/1.1\r\nHost: other\r\n" + sized, false},
		"a space before the colon": {"POST /v1/messages HTTP/1.1\r\nX-A : b\r\n" + sized, false},
		"another request within":   {"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + rest + "Content-Length: 60\r\n\r\n0\r\n\r\nPOST /v1/files HTTP/1.1\r\nHost: a\r\n\r\n", false},
		"pieces":                   {"POST /v1/messages HTTP/1.1\r\n" + chunked + fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body), true},
		"pieces and a trailer": {
			"POST /v1/messages HTTP/1.1\r\nTrailer: X-Portkey-Custom-Host\r\n" + chunked + fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\nX-Portkey-Custom-Host: evil.example\r\n\r\n", len(body), body), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := newReceiver(t, nil)
			d := newTestModel(t, server.URL, nil)
			answer := writeRaw(t, d, test.request)
			hits := server.hits()
			if good := strings.HasPrefix(answer, "HTTP/1.1 200 "); len(hits) > 1 || (len(hits) == 1) != test.arrives || good != test.arrives {
				t.Errorf("%d requests arrived, and the answer is %.200q", len(hits), answer)
			}
			for _, hit := range hits {
				if all := fmt.Sprint(hit.Method, hit.URL, hit.Host, hit.Header, hit.Trailer); strings.Contains(all, "evil") || !strings.HasPrefix(all, "POST/v1/messages127.0.0.1") ||
					hit.ContentLength != int64(len(body)) || len(hit.TransferEncoding) > 0 {
					t.Errorf("arrived as %s, %d bytes, %v", all, hit.ContentLength, hit.TransferEncoding)
				}
			}
		})
	}
}

// crowd lists the behaviours of the clients in TestCrowd.
var crowd = map[string]func(d *testModel) string{
	"reads all": func(d *testModel) string { return send(d, sizedRequest(""), true) },
	"hangs up":  func(d *testModel) string { return send(d, sizedRequest(""), false) },
	"never ends its body": func(d *testModel) string {
		return send(d, "POST /v1/messages HTTP/1.1\r\nHost: model\r\nX-Api-Key: "+dummy+"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"mod\r\n", true)
	},
	"ends half-way": func(d *testModel) string { return send(d, "POST /v1/messages HTTP/1.1\r\nHost: mod", false) },
	"a large head": func(d *testModel) string {
		return send(d, sizedRequest("X-A: "+strings.Repeat("a", 1<<20)+"\r\n"), true)
	},
}

func sizedRequest(header string) string {
	const body = `{"model":"big","stream":true,"max_tokens":5000}`
	return fmt.Sprintf("POST /v1/messages HTTP/1.1\r\nHost: model\r\nConnection: close\r\nX-Api-Key: %s\r\n%sContent-Length: %d\r\n\r\n%s", dummy, header, len(body), body)
}

// send writes a request, and reads the answer to its end, or only its first bytes.
func send(d *testModel, request string, all bool) string {
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, request)
	if !all {
		some := make([]byte, 64)
		n, _ := conn.Read(some[:1])
		return string(some[:n])
	}
	text, _ := io.ReadAll(conn)
	return string(text)
}

// With many clients of any behaviour, the budget holds, the key stays hidden, and well-behaved clients get answers.
func TestCrowd(t *testing.T) {
	server := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, data(`{"type":"message_start","message":{"usage":{"input_tokens":20,"output_tokens":1}}}`))
		for range 50 {
			_, _ = io.WriteString(w, data(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"`+r.Header.Get("X-Api-Key")+strings.Repeat("words ", 200)+`"}}`))
		}
		_, _ = io.WriteString(w, data(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5000}}`)+data(`{"type":"message_stop"}`))
	})
	d := newTestModel(t, server.URL, func(m *egress.Model) {
		m.Budget.USD = 0.5 // ten answers
		m.Limits.Body, m.Limits.Header = 200*time.Millisecond, 200*time.Millisecond
	})
	var all sync.WaitGroup
	answers := make(chan string, 200)
	for range cap(answers) / len(crowd) {
		for _, ask := range crowd {
			all.Go(func() { answers <- ask(d) })
		}
	}
	all.Wait()
	close(answers)
	answered := 0
	for text := range answers {
		if strings.Contains(text, realKey) {
			t.Error("the key came back")
		}
		if strings.Contains(text, "message_stop") {
			answered++
		}
	}
	settled(t, d)
	if sum := d.model.Spent(); answered == 0 || !sum.Stopped || sum.Cost.USD > 0.5+4*0.0501 {
		t.Errorf("%d were answered, %+v", answered, sum)
	}
}
