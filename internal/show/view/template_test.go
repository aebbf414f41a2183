package view_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/show/view"
)

func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{nil, ""},
		{[]string{"README.md", "docs/pull_request_template.md.bak", "sub/pull_request_template.md"}, ""},
		{[]string{"PULL_REQUEST_TEMPLATE.MD", "docs/Pull_Request_Template.txt"}, "docs/Pull_Request_Template.txt"},
		{[]string{".github/PULL_REQUEST_TEMPLATE", "docs/pull_request_template.md"}, ".github/PULL_REQUEST_TEMPLATE"},
		{[]string{".github/PULL_REQUEST_TEMPLATE/a.md", ".github/pull_request_template.md"}, ".github/pull_request_template.md"},
		{[]string{"PULL_REQUEST_TEMPLATE/logo.png", "PULL_REQUEST_TEMPLATE/one.md"}, "PULL_REQUEST_TEMPLATE/one.md"},
	} {
		if got := view.PullTemplate(c.files); got != c.want {
			t.Errorf("Template(%q) = %q, want %q", c.files, got, c.want)
		}
	}
}
