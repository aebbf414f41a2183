package github

import (
	"errors"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// Genuine tells whether GitHub has signed body, byte by byte, with the secret
// that it shares with us. The sums are compared in constant time.
func Genuine(secret, signature string, body []byte) error {
	// SHA-1, which GitHub sends beside it for servers of old, is not enough.
	if secret == "" || !strings.HasPrefix(signature, "sha256=") {
		return errors.New("it is not signed with SHA-256")
	}
	return gh.ValidateSignature(signature, body, []byte(secret))
}
