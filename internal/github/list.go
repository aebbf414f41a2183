package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// list reads a list, page by page and so many pages at most, into types of our
// own: go-github's refuse a whole page for one date that is none.
func list[T any](ctx context.Context, c *Client, a act, path string, pages int) ([]T, error) {
	all, err := turn[[]T](ctx, c, a, path, pages)
	return slices.Concat(all...), err
}

// turn reads the pages of a list, whatever GitHub wraps them in.
func turn[P any](ctx context.Context, c *Client, a act, path string, pages int) ([]P, error) {
	var all []P
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	for number := 1; number != 0 && pages > 0; pages-- {
		var next int
		page, err := ask(ctx, c, a, func(ctx context.Context) (page P, err error) {
			next, err = c.get(ctx, fmt.Sprintf("%s%sper_page=100&page=%d", path, sign, number), &page)
			return page, err
		})
		if err != nil {
			return nil, err
		}
		all, number = append(all, page), next
	}
	return all, nil
}

// one reads a single thing.
func one[T any](ctx context.Context, c *Client, a act, path string) (T, error) {
	return ask(ctx, c, a, func(ctx context.Context) (got T, err error) {
		_, err = c.get(ctx, path, &got)
		return got, err
	})
}

// get reads what stands at path in the repository; next is the next page.
func (c *Client) get(ctx context.Context, path string, into any) (next int, err error) {
	req, err := c.api.NewRequest(http.MethodGet, strings.TrimSuffix(fmt.Sprintf("repos/%s/%s/%s", c.Owner, c.Repo, path), "/"), nil)
	if err != nil {
		return 0, fmt.Errorf("write the request: %w", err)
	}
	resp, err := c.api.Do(ctx, req, into)
	if err != nil {
		return 0, err
	}
	return resp.NextPage, nil
}
