package clean

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

// JSON prints a value for scripts, and for those who look at what they get:
// what takes no ink, or turns a line's direction, is there as its number.
func JSON(to io.Writer, value any) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(to, shown(out.String()))
	return err
}

// shown is JSON that says the same and hides nothing from who reads it.
func shown(text string) string {
	var out bytes.Buffer
	for _, r := range text {
		switch {
		case !Invisible(r) && (r < unicode.MaxASCII || !unicode.IsControl(r)):
			out.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}
