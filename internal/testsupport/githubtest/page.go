package githubtest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// page answers with the part of a list that was asked for, and with the Link
// header by which clients find the rest.
func page[T any](c *call, all []T, show func(T) object) answer {
	query := c.request.URL.Query()
	size := min(positive(query.Get("per_page"), 30), 100)
	number := positive(query.Get("page"), 1)
	last := max((len(all)+size-1)/size, 1)
	from := min((number-1)*size, len(all))
	shown := []object{}
	for _, item := range all[from:min(from+size, len(all))] {
		shown = append(shown, show(item))
	}
	reply := ok(shown)
	reply.header = http.Header{}
	if links := c.links(number, last); links != "" {
		reply.header.Set("Link", links)
	}
	return reply
}

func positive(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// links names the neighbours of a page, in GitHub's order; one page has none.
func (c *call) links(number, last int) string {
	var links []string
	add := func(rel string, to int) {
		query, err := url.ParseQuery(c.request.URL.RawQuery)
		if err != nil {
			query = url.Values{}
		}
		query.Set("page", strconv.Itoa(to))
		links = append(links, "<"+c.server.URL+c.request.URL.EscapedPath()+"?"+query.Encode()+`>; rel="`+rel+`"`)
	}
	if number > 1 {
		add("prev", min(number-1, last))
	}
	if number < last {
		add("next", number+1)
		add("last", last)
	}
	if number > 1 {
		add("first", 1)
	}
	return strings.Join(links, ", ")
}
