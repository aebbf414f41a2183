package egress_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ralph-loop/ralph/internal/egress"
)

func TestFetch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			_, _ = w.Write([]byte("links"))
		case "/elsewhere":
			http.Redirect(w, r, "/page", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	if page, err := (egress.Route{}).Fetch(t.Context(), server.URL+"/page"); err != nil || string(page) != "links" {
		t.Errorf("Fetch = %q, %v", page, err)
	}
	for _, address := range []string{server.URL + "/elsewhere", server.URL + "/nowhere", "http://%", "ftp://x/"} {
		if page, err := (egress.Route{}).Fetch(t.Context(), address); err == nil {
			t.Errorf("Fetch %s = %q, want an error", address, page)
		}
	}
}

// What is permitted while a proxy serves is let through from then on.
func TestPermit(t *testing.T) {
	s := newStand(t, func(s *stand) { s.hosts["late.example."] = []string{"93.184.216.34"} })
	if status, _ := s.line().say(connect("late.example:443")); status != http.StatusForbidden {
		t.Errorf("before: %d", status)
	}
	s.proxy.Permit(names(t, "late.example"))
	s.proxy.Permit(names(t, "later.example:8443"))
	for target, want := range map[string]int{"late.example:443": http.StatusOK, "late.example:8443": http.StatusForbidden, "example.com:443": http.StatusOK} {
		if status, body := s.line().say(connect(target)); status != want {
			t.Errorf("then %s: %d %s", target, status, body)
		}
	}
}
