package agent

import (
	"net/url"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Claude's models are also sold by clouds. One door of theirs speaks the maker's
// API and takes a key that lasts: Bedrock's Mantle. The others want requests that
// are signed one by one, or tokens that end within the hour.

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// mantle tells whether that is Bedrock's door, which takes its keys as a login's.
func mantle(base string) bool {
	host := hostOf(base)
	return strings.HasPrefix(host, "bedrock-mantle.") && strings.HasSuffix(host, ".api.aws")
}

// notOurs refuses a door at which a key does not help.
func notOurs(base string) error {
	host := hostOf(base)
	switch {
	case strings.HasPrefix(host, "bedrock-runtime"):
		return fault.Usage("the model server "+host+" wants requests in a form of its own, which ralph neither signs nor counts",
			"set model-base-url to https://bedrock-mantle.REGION.api.aws/anthropic, and a Bedrock API key as anthropic-api-key", nil)
	case strings.HasSuffix(host, "aiplatform.googleapis.com"):
		return fault.Usage("the model server "+host+" wants Google's tokens, which end within the hour, and requests in a form of its own",
			"put a gateway before it that speaks Anthropic's API and takes a key, and name that as model-base-url", nil)
	}
	return nil
}
