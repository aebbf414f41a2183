package proof

import "bytes"

// Stubbed returns a file with the functions in some lines, from 0, replaced by stubs.
func Stubbed(file, text string, from, to int) string {
	found := stubs(file, bytes.SplitAfter([]byte(text), []byte("\n")), block{from, to})
	if found == nil {
		return ""
	}
	return string(edited([]byte(text), found))
}

// Places returns the lines of the places in a hunk, and the text of the file without each.
func Places(hunk Hunk, text string) (lines, without []string) {
	for _, one := range placesOf(hunk, []byte(text)) {
		lines = append(lines, one.String())
		without = append(without, string(textsWithout([]place{one})[hunk.File]))
	}
	return lines, without
}
