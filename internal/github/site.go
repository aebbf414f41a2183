package github

import (
	"net/url"
	"strings"
)

// webURL is where people find the GitHub of an API: https://HOST of
// https://HOST/api/v3, and of https://api.HOST.
func webURL(api *url.URL) *url.URL {
	u := *api
	path, own := strings.CutSuffix(strings.TrimRight(api.Path, "/"), "/api/v3")
	u.Path = path
	if !own {
		u.Host = strings.TrimPrefix(api.Host, "api.")
	}
	return &u
}

// Issuer is who vouches for the jobs of the GitHub that has that API: another
// GitHub's jobs may have the same names.
func Issuer(api string) (string, error) {
	base, err := apiURL(api)
	if err != nil {
		return "", err
	}
	u := webURL(base)
	switch {
	case strings.TrimRight(base.Path, "/") != "": // a company's own server
		return u.JoinPath("_services", "token").String(), nil
	case u.Host == "github.com":
		u.Host = "githubusercontent.com"
	}
	u.Host = "token.actions." + u.Host
	return strings.TrimRight(u.String(), "/"), nil
}
