package main_test

import (
	"bufio"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// companyHost is GitHub's address inside the company: only the company's proxy
// leads there, and only its certificate is valid for it.
const companyHost = "github.example.com"

// companyLogin is what its proxy wants to hear, as Basic has it.
const companyLogin = "ada:pass-of-the-proxy"

// company is a network that one proxy leads out of.
type company struct {
	front *httptest.Server // GitHub and packages, with a certificate of the company's own

	mu    sync.Mutex
	asked []string // the hosts, in their order
	wrong int      // who came without the login
}

// companyIn puts GitHub behind a company's proxy, as an event has it: "company".
// Then it says that this and no other host was asked for: "company HOST:PORT".
func companyIn(ts *testscript.TestScript, neg bool, args []string) {
	out := ts.Value(outsideKey{}).(*outside)
	if neg || len(args) > 1 {
		ts.Fatalf("usage: company [HOST:PORT]")
	}
	if len(args) == 0 {
		out.company = openCompany(ts)
		return
	}
	out.company.mu.Lock()
	defer out.company.mu.Unlock()
	if hosts := slices.Compact(slices.Sorted(slices.Values(out.company.asked))); !slices.Equal(hosts, args) || out.company.wrong > 0 {
		ts.Fatalf("asked for were %q, and %d came without the login", hosts, out.company.wrong)
	}
	out.company.asked = nil
}

func openCompany(ts *testscript.TestScript) *company {
	github, err := url.Parse(ts.Getenv("GITHUB_SERVER_URL"))
	ts.Check(err)
	hub := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(github) }}
	c := &company{front: httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == packagesHost {
			packages(w, r)
			return
		}
		hub.ServeHTTP(w, r)
	}))}
	c.front.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	c.front.StartTLS()
	ts.Defer(c.front.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.connect(conn)
		}
	}()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.front.Certificate().Raw})
	ts.Check(write(ts.MkAbs("workspace/company.pem"), bundle))
	for name, value := range map[string]string{
		"HTTPS_PROXY": "http://" + companyLogin + "@" + l.Addr().String(), "SSL_CERT_FILE": ts.MkAbs("workspace/company.pem"),
		"GITHUB_SERVER_URL": "https://" + companyHost, "GITHUB_API_URL": "https://" + companyHost + "/api/v3",
		"GITHUB_GRAPHQL_URL": "https://" + companyHost + "/api/graphql",
	} {
		ts.Setenv(name, value)
	}
	return c
}

// connect leads clients with the login to GitHub, and nowhere else.
func (c *company) connect(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	request, err := http.ReadRequest(from)
	if err != nil {
		return
	}
	login := http.Request{Header: http.Header{"Authorization": request.Header["Proxy-Authorization"]}}
	name, password, _ := login.BasicAuth()
	c.mu.Lock()
	known := name+":"+password == companyLogin
	if known {
		c.asked = append(c.asked, request.RequestURI)
	} else if request.Header.Get("Proxy-Authorization") != "" {
		c.wrong++
	}
	c.mu.Unlock()
	if !known { // git asks for the way first
		_, _ = io.WriteString(conn, "HTTP/1.1 407 Who are you?\r\nProxy-Authenticate: Basic realm=\"company\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	server, err := net.Dial("tcp", c.front.Listener.Addr().String())
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(server, from); _ = server.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(conn, server)
}
