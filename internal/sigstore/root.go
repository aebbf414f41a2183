package sigstore

import (
	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/templates"
)

// OpenRoot are the trusted keys in a file; empty: those of the public sigstore.
func OpenRoot(file string) (root attest.Root, err error) {
	if file == "" {
		return attest.ReadRoot([]byte(templates.Text("sigstore/trusted-root.json")))
	}
	data, err := untrusted.ReadFile(file, attest.Largest)
	if err != nil {
		return root, err
	}
	return attest.ReadRoot(data)
}
