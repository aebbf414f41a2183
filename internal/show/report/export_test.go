package report

// Render is render.
func Render(markdown string) string { return string(render(markdown)) }

var showAll = Source{Hide: func(text string) string { return text }}

// FirstPart and LastPart return a part of a text, and what is left out.
func FirstPart(text string, limit int) (shown, left string) {
	e := showAll.firstPart(text, limit)
	return e.Text, e.Left
}

// LastPart is lastPart.
func LastPart(text string, limit int) (shown, left string) {
	e := showAll.lastPart(text, limit)
	return e.Text, e.Left
}
