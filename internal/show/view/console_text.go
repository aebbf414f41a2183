package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// row is one console line before it is wrapped.
type row struct {
	lead      string // the sign at the start; wrapped lines are indented by its width
	text      string // without characters that control a terminal
	tone      tone
	clip      bool   // cut a long line instead of wrapping it
	gapBefore bool   // an empty line goes before it
	toolCall  string // the tool call that this row starts
}

// textRow returns a row with foreign text after lead, or no row for an empty text.
func textRow(lead, text string, t tone) []row {
	text = terminalLine(text)
	if text == "" {
		return nil
	}
	shown, more := shorten(text, 1, maxChars)
	return []row{{lead: lead, text: strings.TrimSuffix(shown[0]+" "+more, " "), tone: t}}
}

func (l Look) draw(r row) string {
	lead := r.lead
	if !l.Emoji {
		lead = plainSigns.Replace(lead)
	}
	room := l.roomFor(lead)
	parts := []string{r.text}
	switch {
	case room > 0 && r.clip:
		parts = []string{clip(r.text, room)}
	case room > 0:
		parts = wrap(r.text, room)
	}
	lines := make([]string, 0, len(parts))
	for i, part := range parts {
		if i > 0 {
			lead = strings.Repeat(" ", uniseg.StringWidth(lead))
		}
		shown := l.paint(lead, signTones[strings.TrimSpace(r.lead)]) + l.paint(part, r.tone)
		if part == "" {
			shown = strings.TrimRight(lead, " ")
		}
		lines = append(lines, strings.TrimRight(shown, " "))
	}
	return strings.Join(lines, "\n")
}

// roomFor returns how many cells a line has left for text. 0 is no limit.
func (l Look) roomFor(lead string) int {
	if l.Width <= 0 {
		return 0
	}
	return max(l.Width, minWidth) - uniseg.StringWidth(lead)
}

// escapeSequence matches a terminal's escape sequence, such as a colour, a title or a move of the cursor.
var escapeSequence = pattern.Of(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|` +
	`\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|` +
	`\x1b[ -/]*[0-~]`)

var lineEnds = strings.NewReplacer(
	"\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ",
)

const maxCombining = 4 // combining marks of a character; more would cover lines above

// scrub removes characters that control a terminal from foreign text. A carriage return begins a new line.
func scrub(text string) string {
	stacked := 0
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		if unicode.IsControl(r) || clean.IsInvisible(r) {
			return -1
		}
		if cellWidth(r) > 0 {
			stacked = 0
			return r
		}
		stacked++
		if stacked > maxCombining {
			return -1
		}
		return r
	}, lineEnds.Replace(escapeSequence.ReplaceAllString(text, "")))
}

// terminalLine returns foreign text as one line that is safe for a terminal.
func terminalLine(text string) string {
	text, _ = clean.Plain(scrub(text), 0)
	return text
}

// cellWidth returns how many cells a single character takes: terminals differ in which they join.
func cellWidth(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	return uniseg.StringWidth(string(r))
}

func bytesThatFit(text string, room int) int {
	for i, r := range text {
		room -= cellWidth(r)
		if room < 0 {
			return i
		}
	}
	return len(text)
}

// wrap breaks text at spaces, or within words that are longer than a line.
func wrap(text string, room int) []string {
	var lines []string
	text = strings.TrimRight(text, " ")
	for {
		end := bytesThatFit(text, room)
		if end == len(text) {
			return append(lines, text)
		}
		head := text[:end]
		if at := strings.LastIndexByte(text[:end+1], ' '); strings.TrimSpace(text[:max(at, 0)]) != "" {
			head = strings.TrimRight(text[:at], " ")
			end = at
		}
		lines = append(lines, head)
		text = strings.TrimLeft(text[end:], " ")
	}
}

func clip(text string, room int) string {
	if bytesThatFit(text, room) == len(text) {
		return text
	}
	return text[:bytesThatFit(text, room-1)] + "…"
}
