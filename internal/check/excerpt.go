package check

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
)

// truncated marks an output that goes on. People's prompts rely on the words.
const truncated = "... [truncated]"

// newExcerpt returns a writer that keeps the end of an output, or its beginning, and a
// function that returns it, counted in characters.
func newExcerpt(asked policy.Excerpt) (io.Writer, func() string) {
	chars := asked.Chars
	if chars <= 0 {
		chars = 4000
	}
	if !asked.Head {
		tail := &process.Tail{N: chars * utf8.UTFMax}
		return tail, func() string {
			runes := []rune(strings.ToValidUTF8(tail.String(), "\uFFFD"))
			return string(runes[max(0, len(runes)-chars):])
		}
	}
	head := &process.Head{N: chars * utf8.UTFMax}
	return head, func() string {
		text := head.String()
		runes := []rune(text)
		if len(runes) <= chars && head.Dropped() == 0 {
			return text
		}
		return string(runes[:min(len(runes), chars)]) + truncated
	}
}
