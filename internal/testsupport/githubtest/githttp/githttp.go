// Package githttp serves bare repositories over git's smart HTTP with git
// http-backend. Its owner decides what a request may do.
package githttp

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"os"
	"path"
	"strings"
)

// Access is what a request may use.
type Access struct {
	Name   string // owner/name, as the owner writes it
	Dir    string // the bare repository
	Actor  string
	Secret string // the owner's own mark of who asked
}

// Denial is why a request may not.
type Denial struct {
	Status int
	Text   string
}

// Handler serves git. All fields but Temp, Refuse and Revoke must be set.
type Handler struct {
	// Backend is the path of git-http-backend.
	Backend func() string
	// Temp is where requests of unknown length are kept; empty: the system's.
	Temp string
	// Open says what the request to owner/name may use.
	Open func(r *http.Request, name string, write bool) (Access, *Denial)
	// Refuse says why an update must not be, before git sees the push.
	Refuse func(Access, Update) string
	// Revoke says why a push must not be, after git took it; it has put the refs
	// back then.
	Revoke func(Access, []Update) string
}

// service is a git request's path: repository, what it wants, and from whom.
type service struct {
	root  string // the path up to the repository
	name  string // owner/name
	write bool
	push  bool
}

func parse(r *http.Request) (service, bool) {
	var found service
	for _, end := range []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"} {
		root, isGit := strings.CutSuffix(r.URL.Path, end)
		if !isGit {
			continue
		}
		found.root, found.name = root, strings.TrimPrefix(strings.TrimSuffix(root, ".git"), "/")
		found.push = end == "/git-receive-pack"
		found.write = found.push || r.URL.Query().Get("service") == "git-receive-pack"
		return found, strings.Count(found.name, "/") == 1
	}
	return found, false
}

// ServeHTTP answers one request of a git client.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, isGit := parse(r)
	if !isGit {
		http.NotFound(w, r)
		return
	}
	access, denied := h.Open(r, asked.name, asked.write)
	if denied != nil {
		if denied.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		}
		http.Error(w, denied.Text, denied.Status)
		return
	}
	body, err := h.spool(r)
	if err != nil {
		http.Error(w, "keep the request: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer discard(body)
	if asked.push {
		h.push(w, r, access, asked, body)
		return
	}
	h.run(w, r, access, asked)
}

// spool keeps the body in a file: net/http/cgi cannot pass a chunked one on,
// which is how git sends every push above 1 MB.
func (h *Handler) spool(r *http.Request) (*os.File, error) {
	if r.Method != http.MethodPost {
		return nil, nil
	}
	file, err := os.CreateTemp(h.Temp, "push-")
	if err != nil {
		return nil, err
	}
	size, err := io.Copy(file, r.Body)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		discard(file)
		return nil, err
	}
	r.Body, r.ContentLength, r.TransferEncoding = file, size, nil
	return file, nil
}

func discard(file *os.File) {
	if file != nil {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
}

// push lends a push to git, unless one of its updates is refused.
func (h *Handler) push(w http.ResponseWriter, r *http.Request, access Access, asked service, body *os.File) {
	request, err := readUpdates(body)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err != nil {
		http.Error(w, "read the push: "+err.Error(), http.StatusBadRequest)
		return
	}
	for _, update := range request.updates {
		if reason := ask(h.Refuse, access, update); reason != "" {
			request.decline(w, update.Ref, reason)
			return
		}
	}
	kept := new(Kept)
	h.run(kept, r, access, asked)
	if reason := ask(h.Revoke, access, request.updates); reason != "" && len(request.updates) > 0 {
		request.decline(w, request.updates[0].Ref, reason)
		return
	}
	kept.Send(w)
}

func ask[T any](judge func(Access, T) string, access Access, about T) string {
	if judge == nil {
		return ""
	}
	return judge(access, about)
}

// settings hold for every repository: GitHub's own behaviour, no hooks of a
// hostile repository, no maintenance that outlives the request, and no regard
// for the owner of the directory, since the demo may run as another user.
var settings = []string{
	"safe.directory=*", "http.receivepack=true", "http.uploadpack=true", "core.hooksPath=/dev/null", "gc.auto=0",
	"receive.autogc=false", "maintenance.auto=false", "receive.fsckObjects=true", "uploadpack.allowFilter=true",
	"uploadpack.allowAnySHA1InWant=true",
}

// quiet is for what CGI says of clients that went away.
var quiet = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)

// run lends the request to git http-backend.
func (h *Handler) run(w http.ResponseWriter, r *http.Request, access Access, asked service) {
	backend := h.Backend()
	if backend == "" {
		http.Error(w, "git-http-backend is not installed here", http.StatusServiceUnavailable)
		return
	}
	r = r.Clone(r.Context())
	// The token is ours and none of git's business; CGI would pass it on.
	r.Header.Del("Authorization")
	env := []string{
		"GIT_PROJECT_ROOT=" + access.Dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_PROTOCOL=" + r.Header.Get("Git-Protocol"), "REMOTE_USER=" + access.Actor,
	}
	env = append(env, configured(settings)...)
	lent := &cgi.Handler{Path: backend, Root: asked.root, Dir: path.Dir(access.Dir), Env: env, Stderr: io.Discard, Logger: quiet}
	lent.ServeHTTP(w, r)
}
