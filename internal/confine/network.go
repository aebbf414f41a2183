package confine

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Network is what those in the sandbox may reach.
type Network struct {
	Any      bool     // every public host by its name
	Packages bool     // where the project's packages come from
	Allow    []string // these, beside the model's
	Setup    []string // these, by the commands that make a folder ready; nil where Any or no Packages: as Allow
	Private  []string // of hosts at home
	Upstream string   // a company's proxy; empty: none
	Bundle   string   // a file of certificates to trust besides; empty: none
}

// Route is how the outside is reached from outside.
func (n Network) Route() (route egress.Route, err error) {
	if route.Private, err = egress.ParseNames(n.Private); err != nil {
		return route, err
	}
	if n.Upstream != "" {
		if route.Upstream, err = egress.ParseUpstream(n.Upstream); err != nil {
			return route, err
		}
	}
	if n.Bundle == "" {
		return route, nil
	}
	text, err := untrusted.ReadFile(n.Bundle, mostTrusted)
	if err != nil {
		return route, fault.Usage("cannot read the CA bundle "+n.Bundle, "name a file of certificates in ca-bundle", err)
	}
	route.Roots, err = egress.Roots(text)
	return route, err
}

const mostTrusted = 64 << 20

var systems = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}

// Trust writes one file of all certificates: most programs trust one file.
func (n Network) Trust(file string) error {
	var all []byte
	for _, name := range systems {
		if text, err := untrusted.ReadFile(name, mostTrusted); err == nil {
			all = append(text, '\n')
			break
		}
	}
	bundle, err := untrusted.ReadFile(n.Bundle, mostTrusted)
	if err == nil {
		err = untrusted.WriteFile(file, append(all, bundle...), 0o644)
	}
	if err != nil {
		return fmt.Errorf("lay out the certificates: %w", err)
	}
	return nil
}

func (w *Sandbox) trust(n Network) error {
	if n.Bundle == "" {
		return nil
	}
	w.servers.certificates = filepath.Join(w.folders.dir, "certificates.pem")
	w.base.Read = append(slices.Clone(w.base.Read), w.servers.certificates)
	return n.Trust(w.servers.certificates)
}

func (d *servers) env(setup bool) []string {
	front := d.proxy
	if setup {
		front = d.setup
	}
	proxy := fmt.Sprintf("http://127.0.0.1:%d", front.Port)
	env := []string{"NODE_USE_ENV_PROXY=1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+proxy)
	}
	const local = "localhost,127.0.0.1,::1"
	env = append(env, "NO_PROXY="+local, "no_proxy="+local)
	if d.certificates == "" {
		return env
	}
	for _, name := range environ.Certificates {
		env = append(env, name+"="+d.certificates)
	}
	return env
}
