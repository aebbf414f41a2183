package check

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
)

// excerpt keeps a part of a check's output, counted in characters.
type excerpt interface {
	io.Writer
	String() string
}

// newExcerpt keeps the end of an output, or its beginning.
func newExcerpt(asked policy.Excerpt) excerpt {
	chars := asked.Chars
	if chars <= 0 {
		chars = 4000
	}
	if asked.Head {
		return &beginning{Head: process.Head{N: chars * utf8.UTFMax}, chars: chars}
	}
	return &ending{Tail: process.Tail{N: chars * utf8.UTFMax}, chars: chars}
}

type beginning struct {
	process.Head
	chars int
}

// truncated marks an output that goes on. People's prompts rely on the words.
const truncated = "... [truncated]"

// String returns the beginning, with a mark if there is more.
func (b *beginning) String() string {
	text := b.Head.String()
	runes := []rune(text)
	if len(runes) <= b.chars && b.Dropped() == 0 {
		return text
	}
	return string(runes[:min(len(runes), b.chars)]) + truncated
}

type ending struct {
	process.Tail
	chars int
}

// String returns the end, without a character that was cut in half.
func (e *ending) String() string {
	runes := []rune(strings.ToValidUTF8(e.Tail.String(), "\uFFFD"))
	return string(runes[max(0, len(runes)-e.chars):])
}
