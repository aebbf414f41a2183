package githubtest

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// markdown answers with a rendered text.
func markdown(c *call) answer {
	var asked struct{ Text, Mode, Context string }
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if asked.Mode == "gfm" && asked.Context == "" {
		return invalid(problem{Resource: "Markdown", Code: "missing_field", Field: "context"})
	}
	return answer{status: http.StatusOK, body: text(c.server.bodyHTML(asked.Text))}
}

// rendered adds body_html to what has a body, if the client asked for it.
func (c *call) rendered(a answer) answer {
	if !strings.Contains(c.request.Header.Get("Accept"), "full+json") {
		return a
	}
	all, isList := a.body.([]object)
	if one, is := a.body.(object); is {
		all = []object{one}
	} else if !isList {
		return a
	}
	for _, one := range all {
		if body, is := one["body"].(string); is {
			one["body_html"] = c.server.bodyHTML(body)
		}
	}
	return a
}

// bodyHTML also gives files another address, where no token is needed, and shows suggestions as a diff, as GitHub does.
func (s *Server) bodyHTML(body string) string {
	page := strings.ReplaceAll(clean.Render(body), "https://github.com/user-attachments/", s.URL+"/user-attachments/")
	return suggestions.ReplaceAllStringFunc(page, func(found string) string {
		code := suggestions.FindStringSubmatch(found)[1]
		var rows strings.Builder
		for line := range strings.Lines(code) {
			rows.WriteString(`<tr><td class="blob-num blob-num-addition"></td><td class="blob-code-inner blob-code-addition js-blob-code-addition">` + line + `</td></tr>`)
		}
		return `<div class="my-2 js-suggested-changes-blob diff-view"><div>Suggested change</div><table>` +
			`<tr><td class="blob-code-inner blob-code-deletion">old</td></tr>` + rows.String() + `</table></div>`
	})
}

var suggestions = regexp.MustCompile(`(?s)<pre><code class="language-suggestion">(.*?)</code></pre>`)

// text is HTML that is sent as it is.
type text string
