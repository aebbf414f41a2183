package git_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

func TestPushRefused(t *testing.T) {
	l := newLab(t)
	hook := filepath.Join(l.remote, "hooks/pre-receive")
	for _, c := range []struct{ said, reason, fix string }{
		{"not on a Friday", "not on a Friday", ""},
		{
			"error: GH006: Protected branch update failed for refs/heads/work.\nerror: Changes must be made through a pull request.",
			"GH006: Protected branch update failed for refs/heads/work.; Changes must be made through a pull request.", "branchPrefix",
		},
		{
			"error: GH013: Repository rule violations found for refs/heads/work.\nReview all rules at https://example.com/rules\n\n- Commits must have verified signatures.\n",
			"GH013: Repository rule violations found for refs/heads/work.; Commits must have verified signatures.; Review all rules at https://example.com/rules", "`github.commitSigning` to `github`",
		},
		{
			"error: GH013: Repository rule violations found for refs/heads/work.\n- Cannot create ref due to creations being restricted.",
			"GH013: Repository rule violations found for refs/heads/work.; Cannot create ref due to creations being restricted.", "ruleset",
		},
		{
			"error: Trace: 0123\nerror: File big.bin is 120.00 MB; this exceeds GitHub's file size limit of 100.00 MB\nerror: GH001: Large files detected.",
			"File big.bin is 120.00 MB; this exceeds GitHub's file size limit of 100.00 MB; GH001: Large files detected.", "Git LFS",
		},
		{
			"refusing to allow a Personal Access Token to create or update workflow `.github/workflows/x.yml` without `workflow` scope",
			"refusing to allow a Personal Access Token to create or update workflow `.github/workflows/x.yml` without `workflow` scope", "the scope `workflow`",
		},
	} {
		write(t, hook, "#!/bin/sh\ncat >&2 <<'END'\n"+c.said+"\nEND\nexit 1\n")
		must.Do(t, os.Chmod(hook, 0o755))
		err := (remote.Repository{URL: l.remote}).Push(t.Context(), l.trusted, remote.Update{Branch: "work", SHA: l.base})
		want := "push: refused by the remote: (pre-receive hook declined); " + c.reason
		if !errors.Is(err, remote.ErrRefused) || err.Error() != want || (fault.Hint(err) == "") != (c.fix == "") || !strings.Contains(fault.Hint(err), c.fix) {
			t.Errorf("Push = %v, hint %q, want %v, hint %q", err, fault.Hint(err), want, c.fix)
		}
	}
}

const secret = "ghs_0123456789abcdef"

func TestTokenOverHTTP(t *testing.T) {
	l := newLab(t)
	l.sh(l.remote, "git", "config", "http.receivepack", "true")
	server := httptest.NewServer(gate(t, filepath.Dir(l.remote)))
	defer server.Close()
	origin := remote.Repository{URL: server.URL + "/remote.git", Token: secret}
	l.trusted = must.Get(origin.Clone(t.Context(), l.git, filepath.Join(t.TempDir(), "m"), remote.Branches{Base: "main"}))(t)
	if err := origin.Push(t.Context(), l.trusted, remote.Update{Branch: "work", SHA: l.base}); err != nil {
		t.Errorf("Push = %v", err)
	}
	if argv := fmt.Sprint(l.seen.argv); leaks(argv) {
		t.Errorf("the token is in a command line: %s", argv)
	}
	with := slices.ContainsFunc(slices.Concat(l.seen.env...), leaks)
	if !with {
		t.Error("the token is in no environment: what was tested?")
	}
	if files := l.sh(l.trusted.Dir, "cat", "config"); leaks(files) {
		t.Errorf("the token is in a file: %s", files)
	}
	if text := fmt.Sprintf("%v %+v %#v %s %q %x", origin, origin, origin, origin.Token, origin.Token, origin.Token); leaks(text) {
		t.Errorf("the token prints: %s", text)
	}
	for i := range l.seen.argv {
		if slices.Contains(l.seen.argv[i], "fetch") || slices.Contains(l.seen.argv[i], "push") || slices.Contains(l.seen.argv[i], "ls-remote") {
			continue
		}
		if slices.ContainsFunc(l.seen.env[i], leaks) {
			t.Errorf("%v had the token", l.seen.argv[i])
		}
	}

	origin.Token = "wrong-" + secret
	for _, token := range []redact.Secret{"wrong-" + secret, ""} {
		origin.Token = token
		err := origin.Push(t.Context(), l.trusted, remote.Update{Branch: "x", SHA: l.base})
		if !errors.Is(err, remote.ErrAuth) || leaks(err.Error()) {
			t.Errorf("with a wrong token Push = %v", err)
		}
	}
}

func TestRemoteTroubles(t *testing.T) {
	l := newLab(t)
	told := ""
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told = r.Header.Get("Authorization") }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/away"):
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, "/down"):
			http.Error(w, "down", http.StatusBadGateway)
		case strings.HasPrefix(r.URL.Path, "/cut"):
			w.Header().Set("Content-Length", "99")
		case strings.HasPrefix(r.URL.Path, "/denied"):
			http.Error(w, "Permission to octo/x.git denied to github-actions[bot].", http.StatusForbidden)
		case strings.HasPrefix(r.URL.Path, "/full"):
			http.Error(w, "full", http.StatusRequestEntityTooLarge)
		default:
			http.NotFound(w, r)
		}
	}))
	for path, kind := range map[string]error{"/down": remote.ErrNetwork, "/cut": remote.ErrNetwork, "/none": remote.ErrAuth, "/full": remote.ErrRefused, "/away": nil} {
		err := (remote.Repository{URL: server.URL + path, Token: secret}).Push(t.Context(), l.trusted, remote.Update{Branch: "x", SHA: l.base})
		var wrong *remote.Error
		if !errors.As(err, &wrong) || !errors.Is(wrong.Kind, kind) || leaks(err.Error()) {
			t.Errorf("from %s Push = %v, want %v", path, err, kind)
		}
	}
	err := (remote.Repository{URL: server.URL + "/denied", Token: secret}).Push(t.Context(), l.trusted, remote.Update{Branch: "x", SHA: l.base})
	if !errors.Is(err, remote.ErrAuth) || !strings.Contains(err.Error(), "denied to github-actions[bot]") || !strings.Contains(fault.Hint(err), "contents: write") {
		t.Errorf("where we may not, Push = %v, hint %q", err, fault.Hint(err))
	}
	if told != "" {
		t.Error("the token followed a redirect")
	}
	server.Close()
	err = (remote.Repository{URL: server.URL + "/x"}).Push(t.Context(), l.trusted, remote.Update{Branch: "x", SHA: l.base})
	if !errors.Is(err, remote.ErrNetwork) {
		t.Errorf("without a login Push = %v", err)
	}
}

func leaks(text string) bool {
	return strings.Contains(text, secret) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("x-access-token:"+secret)))
}

// gate serves git over HTTP to clients with the token. CGI cannot pass on a body
// of unknown length; no body here is one.
func gate(t *testing.T, root string) http.Handler {
	t.Helper()
	backend := filepath.Join(sh(t, ".", "", "git", "--exec-path"), "git-http-backend")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != secret {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(w, "who?", http.StatusUnauthorized)
			return
		}
		r.Header.Del("Authorization")
		h := cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x", "GIT_PROTOCOL=" + r.Header.Get("Git-Protocol")}}
		h.ServeHTTP(w, r)
	})
}
