package upkeep_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

func TestSuggestedLines(t *testing.T) {
	const none = "none"
	for comment, want := range map[string]string{
		"```suggestion\na := 1\n```":                                          "a := 1\n",
		"Typo:\r\n\r\n```suggestion\r\n\ta := 1\r\n\r\n  b\r\n```\r\nThanks.": "\ta := 1\n\n  b\n",
		"```suggestion\n```":                                                  "",
		"```suggestion\n\n```":                                                "\n",
		"````suggestion\n```go\nx\n```\n````":                                 "```go\nx\n```\n",
		"~~~ suggestion\nx\n~~~":                                              "x\n",
		"```go\nold\n```\nbecomes\n```suggestion\nnew\n```":                   "new\n",
		"```suggestion\n<!-- kept -->\n```":                                   "<!-- kept -->\n",
		"Use a map.":                                                          none,
		"```go\nx\n```":                                                       none,
		"````md\n```suggestion\nx\n```\n````":                                 none,
		"```suggestion\nx":                                                    none,
		"```suggestion\nx\n```\n```suggestion\ny\n```":                        none,
		"```suggestion\nif isAdmin\u202e {\n```":                              none,
		"```suggestion\na\x00b\n```":                                          none,
		"```suggestion\nx\rhidden\n```":                                       none,
		"A nit: typo\n<!--\n```suggestion\nevil\n```\n-->":                    none,
		"<!--\n-->\n```suggestion\nx\n```":                                    "x\n",
		"<div hidden>\n\n```suggestion\nevil\n```\n\n</div>":                  none,
		"```suggestion\n![a](b \"c\") <b>&amp;</b> [^1] \\* $x$ @you\n```":    "![a](b \"c\") <b>&amp;</b> [^1] \\* $x$ @you\n",
		"- Typo:\n  ```suggestion\n  x\n  ```":                                none, // GitHub would apply it without the indent
		"a suggestion ``` in a line":                                          none,
	} {
		got, _, ok := upkeep.Suggested(comment, clean.FromMarkdown(comment, 0))
		if !ok {
			got = none
		}
		if got != want {
			t.Errorf("Suggested(%q) = %q, want %q", comment, got, want)
		}
	}
}
