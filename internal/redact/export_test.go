package redact

// Spans returns how far letters go on from each place. The text is gone once they were counted from the first.
func Spans(s []byte, places ...int) (all []int) {
	t := &text{s: s}
	for _, at := range places {
		all = append(all, t.span(alnum, at, len(s)))
		clear(s[:places[0]+all[0]])
	}
	return all
}
