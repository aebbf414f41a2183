package view

import (
	"io"
	"strings"
	"time"

	"github.com/muesli/termenv"
)

// Look is how console lines look. The zero Look is plain ASCII, but for what
// others wrote, and as long as it gets.
type Look struct {
	Emoji      bool // else markers such as [OK]
	Color      bool
	Timestamps bool // [HH:MM:SS] before each line
	Width      int  // cells of a line, at least 24; 0 is no limit
	MaxLines   int  // of a tool's output; 0 is no limit
	MaxChars   int  // of a tool's output, and of its input; 0 is no limit
}

const narrowest = 24

// LookFor is the look that suits the place lines go to. It is plain where
// nobody sits before a terminal, and has no emoji where characters may not be
// UTF-8. Colour is left to termenv, which knows NO_COLOR, CLICOLOR and
// CLICOLOR_FORCE; the last one colours a pipe too.
func LookFor(getenv func(string) string, tty bool, width int) Look {
	if ci := getenv("CI"); ci != "" && ci != "false" {
		tty = false
	}
	look := Look{MaxLines: 8, MaxChars: 800}
	if tty {
		look.Width = max(width, 0)
		look.Emoji = getenv("TERM") != "dumb" && unicodeIn(getenv)
	}
	terminal := termenv.NewOutput(io.Discard, termenv.WithEnvironment(environment(getenv)), termenv.WithTTY(tty))
	look.Color = terminal.Profile != termenv.Ascii
	return look
}

// environment shows getenv to termenv.
type environment func(string) string

// Getenv is a variable's value.
func (e environment) Getenv(key string) string { return e(key) }

// Environ is empty: nobody lists the variables to find a colour.
func (environment) Environ() []string { return nil }

// unicodeIn asks the variables in the order in which the C library does; the
// locale nobody set is ASCII.
func unicodeIn(getenv func(string) string) bool {
	for _, key := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(key)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return false
}

// The signs a line can begin with.
const (
	goodSign  = "✅"
	badSign   = "❌"
	waitSign  = "⏳"
	openSign  = "⬜"
	warnSign  = "❗"
	plainSign = "· "
)

// inASCII is every sign and character of ours that is not ASCII. What others
// wrote does not go through it.
var inASCII = strings.NewReplacer(
	goodSign, "[OK]", badSign, "[ERR]", waitSign, "[..]", openSign, "[  ]", warnSign, "[!!]",
	"🔄", "[..]", "⏸️", "[  ]", "➖", "[--]", "🚀", "[..]", "🛑", "[ERR]",
	"📋 ", "", "📊 ", "", "💰 ", "- ", "·  ", "- ",
	"⏺", "*", "›", ">", "←", "<-", "⎿", "|", "…", "...", "·", "-", "─", "-", "–", "-",
)

// ours is our own text as this look has it.
func (l Look) ours(text string) string {
	if l.Emoji {
		return text
	}
	return inASCII.Replace(text)
}

// tone is how a text is coloured.
type tone int

const (
	plain tone = iota
	faint
	bold
	green
	red
	yellow
	cyan
)

// tones is the colour of a sign.
var tones = map[string]tone{
	goodSign: green, badSign: red, waitSign: yellow, warnSign: yellow, "🛑": red, "🔄": cyan, "⏺": cyan, "⎿": faint, "·": faint, "➖": faint,
}

// paint uses the sixteen colours alone, which every terminal's owner has
// chosen to be readable.
func (l Look) paint(text string, t tone) string {
	if !l.Color || text == "" || t == plain {
		return text
	}
	style := termenv.ANSI.String(text)
	switch t {
	case faint:
		style = style.Faint()
	case bold:
		style = style.Bold()
	case green:
		style = style.Foreground(termenv.ANSIGreen)
	case red:
		style = style.Foreground(termenv.ANSIRed)
	case yellow:
		style = style.Foreground(termenv.ANSIYellow)
	case cyan:
		style = style.Foreground(termenv.ANSICyan)
	case plain:
	}
	return style.String()
}

// stamp is the time before a line, where one is asked for and known.
func (l Look) stamp(at time.Time) string {
	if !l.Timestamps || at.IsZero() {
		return ""
	}
	return l.paint(at.Format("[15:04:05]"), faint) + " "
}

const stampWidth = len("[15:04:05] ")
