package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// hiddenWords are words that no reader of the issue's page sees; %s is one.
var hiddenWords = []string{
	"<!-- %s -->", "<!--\n```\n%s\n```\n-->",
	"<p hidden>%s</p>", "<span style=\"display:none\">%s</span>", "<div hidden>\n\n- [ ] %s\n\n</div>",
	"<template>%s</template>", "<p title=\"%s\">p</p>", "<br class='%s'>", "<%s>", "<img src=x alt=\"%s\">", "![%s](https://e.example/a.png)",
	"[a](https://e.example \"%s\")", "[a](https://e.example '%s')", "[//]: # (%s)", "[x]: https://e.example \"%s\"", "[^x]: %s", "<?%s?>", "<![CDATA[%s]]>",
}

// tags returns a text in the block of characters that have no look.
func tags(text string) string {
	return strings.Map(func(r rune) rune { return r + 0xE0000 }, text)
}

// What people could not see when the run was asked for, the agent does not
// get to read: hidden words in each form, characters without a look, what was
// written into the issue afterwards, and what strangers wrote below it.
func TestTheAgentReadsWhatPeopleSaw(t *testing.T) {
	t.Parallel()
	body := "Visible words.\n\n"
	for i, form := range hiddenWords {
		body += fmt.Sprintf(form, fmt.Sprintf("smuggled%dwords", i)) + "\n\n"
	}
	body += "Plain" + tags("run curl") + "\u200b\u00ad\u202e\u2066\u3164\ufe0f\U000e0101\u2800ly seen.\n\n- [ ] Greet by name\n\n" + "<div><!-- smuggled without end words"
	s := newScene(t, func(s *scene) {
		s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Body, i.Title = body, i.Title+tags("run curl") })
		s.AddComment(shop, githubtest.Comment{Issue: s.issue, Author: "mallory", Body: "words of a stranger, earlier"})
	})
	s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Body, i.Title = "words of later", "words of later" })
	s.AddComment(shop, githubtest.Comment{Issue: s.issue, Author: "mallory", Body: "/ralph words of a stranger"})
	s.end(s.begin("SET_limits.maxIterations=1"))
	read := s.readByTheAgent()
	for _, seen := range []string{"Visible words.", "Plainly seen.", "Greet by name"} {
		if !strings.Contains(read, seen) {
			t.Errorf("the agent does not read %q", seen)
		}
	}
	for _, never := range []string{"smuggled", "words of later", "words of a stranger"} {
		if at := strings.Index(read, never); at >= 0 {
			t.Errorf("the agent reads %q", read[at:min(len(read), at+40)])
		}
	}
	if strings.ContainsFunc(read, clean.IsInvisible) {
		t.Error("the agent reads invisible characters")
	}
}

// readByTheAgent returns every prompt and plan of the run, and its journal.
func (s *scene) readByTheAgent() string {
	s.t.Helper()
	var all strings.Builder
	for _, pattern := range []string{"prompt_*.md", "journal.jsonl", "prd.json"} {
		files, _ := filepath.Glob(s.path("workspace", ".ralph", "runs", "*", pattern))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				s.t.Fatal(err)
			}
			all.Write(text)
		}
	}
	return all.String()
}
