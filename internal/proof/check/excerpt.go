package check

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// truncated marks an output that goes on. People's prompts rely on the words.
const truncated = "... [truncated]"

// leftOut separates the first failure of a long output from its end.
const leftOut = "[ralph left out lines here]\n"

// statedFailure keeps the lines of an output that first state what failed.
type statedFailure struct {
	line, kept []byte
	lines      int // that are kept
}

const (
	maxStatedLines = 8
	maxStated      = 800 // bytes
)

// Write keeps the first line that states a failure, and some that follow it.
func (s *statedFailure) Write(part []byte) (int, error) {
	size := len(part)
	for len(part) > 0 && s.lines < maxStatedLines {
		end := bytes.IndexByte(part, '\n') + 1
		if end == 0 {
			s.line = append(s.line, part[:min(len(part), max(maxStated-len(s.line), 0))]...)
			break
		}
		s.add(string(append(s.line, part[:end]...)))
		s.line = s.line[:0]
		part = part[end:]
	}
	return size, nil
}

func (s *statedFailure) add(line string) {
	if s.lines == 0 && !results.StatesFailure(strings.TrimRight(line, "\r\n")) {
		return
	}
	s.lines++
	if len(s.kept)+len(line) <= maxStated {
		s.kept = append(s.kept, line...)
	}
}

func (s *statedFailure) text() string { return strings.ToValidUTF8(string(s.kept), "\uFFFD") }

// fromLine returns a cut text from the beginning of a line on, unless that would drop most of it.
func fromLine(text string) string {
	_, rest, found := strings.Cut(text, "\n")
	if !found || len(rest) < len(text)/2 {
		return text
	}
	return rest
}

// newExcerpt returns a writer that keeps the end of an output, or its beginning, and a function that returns it,
// counted in characters. The first failure that the output states is before an end that lacks it.
func newExcerpt(asked policy.Excerpt) (io.Writer, func() string) {
	chars := asked.Chars
	if chars <= 0 {
		chars = 4000
	}
	if asked.Head {
		head := &process.Head{N: chars * utf8.UTFMax}
		return head, func() string { return beginning(head, chars) }
	}
	tail := &process.Tail{N: chars * utf8.UTFMax}
	failure := &statedFailure{}
	return io.MultiWriter(tail, failure), func() string { return ending(tail, failure.text(), chars) }
}

func beginning(head *process.Head, chars int) string {
	text := head.String()
	runes := []rune(text)
	if len(runes) <= chars && head.Dropped() == 0 {
		return text
	}
	return string(runes[:min(len(runes), chars)]) + truncated
}

func ending(tail *process.Tail, failure string, chars int) string {
	runes := []rune(strings.ToValidUTF8(tail.String(), "\uFFFD"))
	if len(runes) <= chars && tail.Dropped() == 0 {
		return string(runes)
	}
	runes = runes[max(0, len(runes)-chars):]
	end := fromLine(string(runes))
	size := utf8.RuneCountInString(failure)
	if strings.Contains(end, failure) || size > chars/2 {
		return end
	}
	return failure + leftOut + fromLine(string(runes[size:]))
}
