package githttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/githttp"
)

const (
	zero = "0000000000000000000000000000000000000000"
	one  = "1111111111111111111111111111111111111111"
)

func packet(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// refusing returns a handler that takes no ref named no, and has no git to lend to.
func refusing(t *testing.T) *githttp.Handler {
	t.Helper()
	return &githttp.Handler{
		Backend: func() string { return "" }, Temp: t.TempDir(),
		Open: func(r *http.Request, name string, write bool) (githttp.Access, *githttp.Denial) {
			if name == "acme/none" {
				return githttp.Access{}, &githttp.Denial{Status: http.StatusUnauthorized, Text: "who are you"}
			}
			return githttp.Access{Dir: t.TempDir(), Actor: r.Header.Get("Actor")}, nil
		},
		Refuse: func(_ githttp.Access, u githttp.Update) string {
			return map[string]string{"refs/heads/no": "not this one", "refs/heads/rule": "error: GH013\n- no\nruled out"}[u.Ref]
		},
	}
}

func TestAnswers(t *testing.T) {
	command := zero + " " + one + " refs/heads/no"
	report := packet("unpack ok\n") + packet("ng refs/heads/no not this one\n") + packet("ng refs/heads/yes pre-receive hook declined\n") + "0000"
	yes := packet(zero + " " + one + " refs/heads/yes")
	for _, c := range []struct {
		name, path, body string
		status           int
		want             string
	}{
		{"refused", "/acme/shop.git/git-receive-pack", packet(command+"\x00 report-status") + yes + "0000PACK", 200, report},
		{
			"refused on a band", "/acme/shop/git-receive-pack", packet(command+"\x00 report-status side-band-64k agent=git") + yes + "0000", 200,
			packet("\x02error: not this one\n") + packet("\x01"+report) + "0000",
		},
		{
			"refused in several lines", "/acme/shop/git-receive-pack", packet(zero+" "+one+" refs/heads/rule\x00 report-status side-band-64k") + "0000", 200,
			packet("\x02error: GH013\n- no\n") + packet("\x01"+packet("unpack ok\n")+packet("ng refs/heads/rule ruled out\n")+"0000") + "0000",
		},
		{"no packet", "/acme/shop.git/git-receive-pack", "zzzz", 400, "malformed packet line"},
		{"half a packet", "/acme/shop.git/git-receive-pack", "0040abc", 400, "unexpected EOF"},
		{"impossible packet", "/acme/shop.git/git-receive-pack", "0002", 400, "malformed packet line"},
		{"taken, but no git", "/acme/shop.git/git-receive-pack", yes + "0000", 503, "git-http-backend is not installed here"},
		{"denied", "/acme/none.git/git-upload-pack", "", 401, "who are you"},
		{"not git", "/acme/shop.git/HEAD", "", 404, "not found"},
		{"not a repository", "/shop.git/git-upload-pack", "", 404, "not found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, answer := refusing(t), httptest.NewRecorder()
			h.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(c.body)))
			if answer.Code != c.status || !strings.Contains(answer.Body.String(), c.want) {
				t.Errorf("answer = %d %q, want %d %q", answer.Code, answer.Body, c.status, c.want)
			}
			if asks := answer.Header().Get("WWW-Authenticate") != ""; asks != (c.status == http.StatusUnauthorized) {
				t.Errorf("asks for a password: %v", asks)
			}
			if left, err := os.ReadDir(h.Temp); err != nil || len(left) > 0 {
				t.Errorf("left in the temporary directory: %v, %v", left, err)
			}
		})
	}
}
