package view

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// row is a line for the console before it is wrapped.
type row struct {
	lead      string // the sign it begins with, and the indent of what is wrapped
	text      string // scrubbed
	tone      tone
	clip      bool   // cut what is too long instead of wrapping it
	gapBefore bool   // an empty line goes before it
	gapAfter  bool   // and one after it
	toolCall  string // the tool call it opens
}

// textRow is foreign text on a line behind a sign of ours; empty for an empty one.
func (l Look) textRow(lead, text string, t tone) []row {
	if text = terminalLine(text); text == "" {
		return nil
	}
	shown, more := l.shorten(text, 1, maxChars)
	return []row{{lead: lead, text: strings.TrimSuffix(shown[0]+" "+more, " "), tone: t}}
}

// draw is r as lines of the terminal.
func (l Look) draw(at time.Time, r row) string {
	lead := l.ownText(r.lead)
	room := l.roomFor(lead)
	parts := []string{r.text}
	switch {
	case room > 0 && r.clip:
		parts = []string{l.clip(r.text, room)}
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
		lines = append(lines, strings.TrimRight(l.timestamp(at)+shown, " "))
	}
	return strings.Join(lines, "\n")
}

// roomFor is the cells that are left for text; 0 is no limit.
func (l Look) roomFor(lead string) int {
	if l.Width <= 0 {
		return 0
	}
	room := max(l.Width, minWidth) - uniseg.StringWidth(lead)
	if l.Timestamps {
		room -= timestampWidth
	}
	return room
}

// escapeSequence is a whole escape sequence: a colour, a title, a move.
var escapeSequence = pattern.Of(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]`)

var lineEnds = strings.NewReplacer(
	"\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ",
)

// maxCombining is how many marks one character can carry: languages need few,
// and a tower of them would cover the lines above.
const maxCombining = 4

// scrub is foreign text with nothing in it that a terminal would obey. A
// carriage return begins a line: what a line was before it is not lost.
func scrub(text string) string {
	if isPlainASCII(text) {
		return text
	}
	stacked := 0
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		if unicode.IsControl(r) || clean.Invisible(r) {
			return -1
		}
		if cellWidth(r) > 0 {
			stacked = 0
			return r
		}
		if stacked++; stacked > maxCombining {
			return -1
		}
		return r
	}, lineEnds.Replace(stripEscapes(text)))
}

// stripEscapes is text without escape sequences. Few have one, and a regular
// expression takes its time to find that out.
func stripEscapes(text string) string {
	if !strings.Contains(text, "\x1b") && !strings.Contains(text, "\u009b") {
		return text
	}
	return escapeSequence.ReplaceAllString(text, "")
}

// isPlainASCII tells of plain letters in lines: most of what agents print.
func isPlainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' {
			return false
		}
	}
	return true
}

// terminalLine is foreign text on one line.
func terminalLine(text string) string {
	text, _ = clean.Plain(scrub(text), 0)
	return text
}

// cellWidth is the room a character takes. Each counts by itself, as terminals do
// not agree on which ones they join.
func cellWidth(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	return uniseg.StringWidth(string(r))
}

// bytesThatFit is how many bytes of text go into so many cells.
func bytesThatFit(text string, room int) int {
	for i, r := range text {
		if room -= cellWidth(r); room < 0 {
			return i
		}
	}
	return len(text)
}

// wrap breaks text at spaces, and within a word only where it is too long
// for a line of its own.
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

// clip is the beginning of text that goes into so many cells, with the number
// of characters that did not.
func (l Look) clip(text string, room int) string {
	if bytesThatFit(text, room) == len(text) {
		return text
	}
	// No more are left out than there are, so the number has room.
	mark := l.ownText(fmt.Sprintf("… +%d", utf8.RuneCountInString(text)))
	if uniseg.StringWidth(mark) > room/2 {
		mark = l.ownText("…")
		return text[:bytesThatFit(text, room-uniseg.StringWidth(mark))] + mark
	}
	kept := text[:bytesThatFit(text, room-uniseg.StringWidth(mark))]
	return kept + l.ownText(fmt.Sprintf("… +%d", utf8.RuneCountInString(text[len(kept):])))
}

// textWidth is the cells that text takes.
func textWidth(text string) int {
	sum := 0
	for _, r := range text {
		sum += cellWidth(r)
	}
	return sum
}
