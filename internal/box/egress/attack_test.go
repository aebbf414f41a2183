package egress_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// writeRaw writes a raw request to the model server, and returns everything that
// comes back until the server closes the connection.
func writeRaw(t *testing.T, d *testModel, request string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(d.url, "http://")))(t)
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
		"an escaped slash":         {"POST /v1%2fmessages HTTP/1.1\r\n" + sized, false},
		"dots":                     {"POST /v1/files/../messages HTTP/1.1\r\n" + sized, false},
		"a null":                   {"POST /v1/messages%00 HTTP/1.1\r\n" + sized, false},
		"dots for a model":         {"POST /v1beta/models/..%2f..:generateContent HTTP/1.1\r\n" + sized, false},
		"a tunnel":                 {"CONNECT evil.example:443 HTTP/1.1\r\n" + rest + "\r\n", false},
		"HTTP/2 by an upgrade":     {"POST /v1/messages HTTP/1.1\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n" + strings.Replace(sized, "Connection: close", "Connection: Upgrade, close", 1), true},
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
				if hit.Header.Get("Upgrade") != "" {
					t.Error("the upgrade arrived")
				}
				if all := fmt.Sprint(hit.Method, hit.URL, hit.Host, hit.Header, hit.Trailer); strings.Contains(all, "evil") || !strings.HasPrefix(all, "POST/v1/messages127.0.0.1") ||
					hit.ContentLength != int64(len(body)) || len(hit.TransferEncoding) > 0 {
					t.Errorf("arrived as %s, %d bytes, %v", all, hit.ContentLength, hit.TransferEncoding)
				}
			}
		})
	}
}
