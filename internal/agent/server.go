package agent

import (
	"net/url"
	"strings"
)

// serverAt is a model server's URL with the folder in which such servers
// answer, where the user named none.
func serverAt(base, folder string) string {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" || strings.Trim(parsed.Path, "/") != "" {
		return base
	}
	return parsed.JoinPath(folder).String()
}
