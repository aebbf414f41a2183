package redact

// starts tells where in a text a secret may begin, by two bytes at a time: an
// agent prints a gigabyte, and next to nothing of it is looked at any closer.
type starts struct {
	pairs [1 << 16]bool
	ends  [256]bool // where there is but one byte
}

// shapeStarts are those of the shapes.
var shapeStarts = func() (s starts) {
	for _, t := range tokens {
		s.add(t.prefix)
	}
	for _, prefix := range []string{webBegin, pemBegin, "au", "aU", "Au", "AU"} {
		s.add(prefix)
	}
	return s
}()

// add adds what begins as text does.
func (x *starts) add(text string) {
	x.pairs[pair(text[0], text[1])] = true
	x.ends[text[0]] = true
}

// places adds to list where in s, from at on, a secret may begin.
func (x *starts) places(list []int, s []byte, at int) []int {
	if at >= len(s) {
		return list
	}
	first := s[at]
	for i, second := range s[at+1:] {
		if x.pairs[pair(first, second)] {
			list = append(list, at+i)
		}
		first = second
	}
	if x.ends[first] {
		list = append(list, len(s)-1)
	}
	return list
}

func pair(first, second byte) uint16 { return uint16(first)<<8 | uint16(second) }
