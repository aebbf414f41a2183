package report

// ExcerptOf is excerptOf, from the start or to the end.
func ExcerptOf(text string, room int, end bool) (shown, left string) {
	e := excerptOf(text, room, textSide(end))
	return e.Text, e.Left
}

// FirstThatFit is firstThatFit.
var FirstThatFit = firstThatFit

// Blocks returns Markdown as the page shows it, a line for each paragraph and item,
// with code in ‹› and strong text in «».
func Blocks(markdown string) []string {
	var all []string
	for _, b := range blocks(markdown) {
		all = append(all, marked(b.Spans))
		for _, item := range b.Items {
			all = append(all, "- "+marked(item))
		}
	}
	return all
}

// Phrase is Blocks for a phrase.
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
