package report

// What tables of tests look at.

// Cut is cut, from the start or to the end.
func Cut(text string, room int, end bool) (shown, left string) {
	e := excerptOf(text, room, textSide(end))
	return e.Text, e.Left
}

// Few is few.
func Few(all []string, room, markup int) (shown []string, more int) {
	return thatFit(all, room, markup)
}

// Told is Markdown as the page has it: a paragraph a line, its items behind a
// dash, code in ‹› and what is strong in «».
func Told(markdown string) []string {
	var all []string
	for _, b := range blocks(markdown) {
		all = append(all, marked(b.Spans))
		for _, item := range b.Items {
			all = append(all, "- "+marked(item))
		}
	}
	return all
}

// Phrase is Told for a phrase.
func Phrase(markdown string) string { return marked(spans(markdown)) }

func marked(all []span) string {
	text := ""
	for _, s := range all {
		switch {
		case s.Code:
			text += "‹" + s.Text + "›"
		case s.Strong:
			text += "«" + s.Text + "»"
		default:
			text += s.Text
		}
	}
	return text
}
