package agent

import (
	"bytes"
	"unicode/utf8"
)

// clipper cuts the long strings in a line of JSON. What tools print is nearly
// all that agents print, of which some lines are shown: to read the rest as
// JSON, several times over, would take longer than anything else.
type clipper struct{ kept []byte }

const (
	longLine   = 2 * maxOutput
	maxClipped = 4 << 10 // of a string in a long line, as it stands there
	enough     = 1000    // characters of such a string: a console shows 800
)

// spare is a long line with its strings cut, if it holds what a tool said, by
// one mark, and none of the agent's own words, by others: marks are keys and
// values, whose quotes would be escaped in any text. It holds until the next
// call.
func (c *clipper) spare(line []byte, tool string, words ...string) []byte {
	if len(line) <= longLine {
		return line
	}
	cut := c.clip(line)
	if !bytes.Contains(cut, []byte(tool)) {
		return line
	}
	for _, mark := range words {
		if bytes.Contains(cut, []byte(mark)) {
			return line
		}
	}
	return cut
}

// clip is line with its long strings cut. What is no JSON stays none.
func (c *clipper) clip(line []byte) []byte {
	c.kept = c.kept[:0]
	copied := 0
	for at := 0; ; {
		quote := bytes.IndexByte(line[at:], '"')
		if quote < 0 {
			break
		}
		begin := at + quote + 1
		end := endOfString(line, begin)
		if end < 0 {
			break
		}
		if end-begin > maxClipped {
			stop := boundary(line, begin+beginning(line[begin:begin+maxClipped]))
			c.kept = append(c.kept, line[copied:stop]...)
			copied = end
		}
		at = end + 1
	}
	if copied == 0 {
		return line
	}
	c.kept = append(c.kept, line[copied:]...)
	return c.kept
}

// endOfString is where the quote stands that ends a string; below 0 where none
// does.
func endOfString(line []byte, begin int) int {
	for at := begin; ; {
		quote := bytes.IndexByte(line[at:], '"')
		if quote < 0 {
			return -1
		}
		at += quote
		slashes := 0
		for at-slashes > begin && line[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
		at++
	}
}

// beginning is how many bytes of a string hold enough, or about all of them.
func beginning(text []byte) int {
	at := 0
	for range enough {
		switch {
		case at+1 >= len(text):
			return len(text)
		case text[at] != '\\':
			_, size := utf8.DecodeRune(text[at:])
			at += size
		case text[at+1] == 'u':
			at += len(`\u0000`)
		default:
			at += len(`\n`)
		}
	}
	return min(at, len(text))
}

// boundary is at, or the nearest place before it that is not within an escape
// or a character.
func boundary(line []byte, at int) int {
	for !utf8.RuneStart(line[at]) {
		at--
	}
	const longest = len(`\u0000`)
	last := bytes.LastIndexByte(line[at-longest:at], '\\')
	if last < 0 {
		return at
	}
	last += at - longest
	slashes := 1
	for line[last-slashes] == '\\' {
		slashes++
	}
	if slashes%2 == 0 { // the last is an escaped one
		return at
	}
	length := len(`\n`)
	if line[last+1] == 'u' {
		length = longest
	}
	if last+length > at {
		return last
	}
	return at
}
