package github_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
)

// book answers with pages: a question has another page until it asked for the
// last of them.
func book(pages int, leaf func(req *http.Request, number int) string) hand {
	number := 0
	return func(req *http.Request) canned {
		number++
		c := reply(http.StatusOK, leaf(req, number))
		if number < pages {
			next := *req.URL
			query := next.Query()
			query.Set("page", fmt.Sprint(number+1))
			next.RawQuery = query.Encode()
			c.header.Set("Link", "<"+next.String()+`>; rel="next"`)
		}
		return c
	}
}

func reader(t *testing.T, h hand) *github.Client {
	t.Helper()
	return connect(t, github.Access{Owner: "acme", Repo: "shop", Token: "secret", Retry: hasty, HTTP: h})
}

// What lies on the third page is found, no matter what is asked for.
func TestAllPagesAreRead(t *testing.T) {
	t.Run("pull requests", func(t *testing.T) {
		client := reader(t, book(3, func(_ *http.Request, number int) string {
			ref := "other"
			if number == 3 {
				ref = work
			}
			return fmt.Sprintf(`[{"number":%d,"head":{"ref":%q,"repo":{"full_name":"acme/shop"}}}]`, number, ref)
		}))
		pull, found, err := client.FindPull(t.Context(), work, 0)
		if err != nil || !found || pull.Number != 3 {
			t.Errorf("FindPull = %+v, %v, %v, want #3", pull, found, err)
		}
	})
	t.Run("threads", func(t *testing.T) {
		asked := 0
		client := reader(t, func(req *http.Request) canned {
			asked++
			body := make([]byte, 4096)
			n, _ := req.Body.Read(body)
			if want := fmt.Sprintf(`after: \"c%d\"`, asked-1); asked > 1 && !strings.Contains(string(body[:n]), want) {
				t.Errorf("question %d does not say %s: %s", asked, want, body[:n])
			}
			return reply(http.StatusOK, fmt.Sprintf(`{"data":{"repository":{"pullRequest":{"reviewThreads":{"pageInfo":{"endCursor":"c%d","hasNextPage":%t},"nodes":[{"isResolved":false,"comments":{"nodes":[{"databaseId":%d}]}}]}}}}}`, asked, asked < 3, asked))
		})
		open, err := client.OpenThreads(t.Context(), 7)
		if err != nil || len(open) != 3 || !open[3] {
			t.Errorf("OpenThreads = %v, %v, want three", open, err)
		}
	})
}
