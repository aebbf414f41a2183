package confine

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Needs are what the checks of a project need besides its files.
type Needs struct {
	Services []egress.Name // servers that the agent and the checks reach
	Env      []string      // NAME=value, for the agent and the checks
	Secrets  []string      // NAME=value, for the checks of clean checkouts alone
}

// Values returns the secret values.
func (n Needs) Values() []string {
	var all []string
	for _, line := range n.Secrets {
		_, value, _ := strings.Cut(line, "=")
		all = append(all, value)
	}
	return all
}

// checkSecrets refuses secrets where the agent could read them.
func (n Needs) checkSecrets(level sandbox.Level) error {
	if level != sandbox.None || len(n.Secrets) == 0 {
		return nil
	}
	return fault.Usage("secrets for checks need a sandbox: without one the agent could read them",
		"remove check-secrets, or use a sandbox: the input sandbox, or --sandbox", nil)
}

// Sweep removes what a proof left in shared memory: it had the secrets, and the agent could read them there.
func (w *Sandbox) Sweep() error {
	if w == nil {
		return nil
	}
	return w.base.Sweep()
}

func serviceText(services []netip.AddrPort) string {
	var all []string
	for _, at := range services {
		all = append(all, at.String())
	}
	if len(all) == 0 {
		return ""
	}
	return "; services: " + strings.Join(all, ", ")
}

// withMaven adds to Maven's options, which may be the user's, what no other variable tells every Maven 3: where it
// keeps what it fetches, and the proxy.
func (w *Sandbox) withMaven(env []string, proof bool, port int) []string {
	options := fmt.Sprintf("%s -Dmaven.repo.local=%s "+
		"-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=%d -Daether.connector.http.useSystemProperties=true",
		environ.Get(env, "MAVEN_OPTS"), filepath.Join(w.folders.caches(proof), "maven/repository"), port)
	return append(env, "MAVEN_OPTS="+strings.TrimSpace(options))
}
