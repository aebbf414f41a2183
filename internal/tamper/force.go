package tamper

import "strings"

// refused is how much a test asks for that fails where a condition holds, and
// what it looks at. given are the statements before it in the same line.
func refused(condition, given []word) (force, []word, []word) {
	condition = inside(condition)
	if parts := split(condition, "&&"); len(parts) > 1 {
		least, subject, expected := exact, condition, []word(nil)
		for _, part := range parts {
			f, s, e := refused(part, given)
			least, subject, expected = min(least, f), s, e
		}
		return min(least, partly), subject, expected
	}
	if never(condition) {
		return vain, condition, nil
	}
	if sides := split(condition, "!="); len(sides) == 2 {
		return equality(resolved(sides[0], given), resolved(sides[1], given))
	}
	if sides := split(condition, "=="); len(sides) == 2 {
		if nothing(sides[1]) || nothing(sides[0]) {
			return presence, condition, nil
		}
		return partly - 2, condition, nil
	}
	if len(condition) > 1 && condition[0].is("!") {
		return required(condition[1:])
	}
	return ordered(condition)
}

// required is how much is asked for by what has to be true.
func required(condition []word) (force, []word, []word) {
	condition = inside(condition)
	if sides := split(condition, "==", "==="); len(sides) == 2 {
		return equality(sides[0], sides[1])
	}
	all := joined(condition)
	for _, equal := range []string{"DeepEqual (", ". Equal (", "errors . Is (", "allclose (", "array_equal (", "isDeepStrictEqual ("} {
		if strings.Contains(all, equal) {
			if args := arguments(condition); len(args) >= 2 {
				return equality(args[0], args[1])
			}
			return exact, condition, nil
		}
	}
	return ordered(condition)
}

func ordered(condition []word) (force, []word, []word) {
	switch all := joined(condition); {
	case len(condition) == 0, len(condition) == 1 && condition[0].literal():
		return vain, condition, nil
	case len(split(condition, "<", ">", "<=", ">=", "!=", "!==", "in", "instanceof")) > 1:
		sides := split(condition, "<", ">", "<=", ">=", "!=", "!==", "in", "instanceof")
		if joined(sides[0]) == joined(sides[1]) || fixed(sides[0]) && fixed(sides[1]) {
			return vain, condition, nil
		}
		if len(sides) == 2 && len(sides[1]) > 0 {
			return partly, condition[:len(sides[0])+1], sides[1]
		}
		return partly, condition, nil
	case strings.Contains(all, "Contains (") || strings.Contains(all, "HasPrefix (") || strings.Contains(all, "HasSuffix (") || strings.Contains(all, "MatchString (") ||
		strings.Contains(all, "startswith (") || strings.Contains(all, "endswith (") || strings.Contains(all, ". includes (") || strings.Contains(all, ". test ("):
		return partly, condition, nil
	case len(condition) > 1:
		return flag, condition, nil
	default:
		return presence, condition, nil
	}
}

// equality is how much is asked for by two sides that have to be equal.
func equality(a, b []word) (force, []word, []word) {
	if args := arguments(a); len(args) >= 2 && joined(b) == `"` && names(a, func(n string) bool { return n == "Diff" }) {
		asked, subject, expected := equality(args[0], args[1])
		if names(a, func(n string) bool { return strings.HasPrefix(n, "Ignore") }) {
			asked = min(asked, partly)
		}
		return asked, subject, expected
	}
	a, b = inside(a), inside(b)
	if joined(a) == joined(b) {
		if len(a) > 1 && a[len(a)-1].is(")") {
			return partly, a, b // that it gives the same twice is worth a little
		}
		return vain, a, b
	}
	if fixed(a) && !fixed(b) || names(a, wanted) && !names(b, wanted) {
		a, b = b, a
	}
	return equalTo(a, b), a, b
}

// equalTo is how much is asked for by a that has to be b.
func equalTo(a, b []word) force {
	switch {
	case fixed(a) && fixed(b):
		return vain
	case nothing(b) && b[0].is("nil"):
		return presence
	case len(b) == 1 && b[0].is("true", "false", "True", "False"):
		return flag
	case len(a) >= 3 && (a[0].is("len") || a[len(a)-1].is("length", "size")):
		return sized
	default:
		return exact
	}
}

var plainTypes = set("string int int64 int32 uint uint64 byte rune bool float64 float32 any error")

func nothing(words []word) bool {
	return len(words) == 1 && words[0].is("nil", "null", "undefined", "None")
}

// fixed tells whether words are nothing but literals.
func fixed(words []word) bool {
	some := false
	for i, w := range words {
		switch {
		case i > 0 && w.is("+", "-", "*", "/", "%"):
			return false
		case w.literal():
			some = true
		case w.kind == name && plainTypes[w.text]:
		case w.kind == name || w.is("func", "map", "struct", "lambda", "=>"):
			return false
		case w.is("[", "]", "{", "}", "(", ")", ":"):
			some = true
		}
	}
	return some
}

func names(words []word, like func(string) bool) bool {
	for _, w := range words {
		if w.kind == name && like(w.text) {
			return true
		}
	}
	return false
}

// wanted tells whether a name says that it holds what has to come.
func wanted(called string) bool {
	called = strings.ToLower(called)
	return strings.HasPrefix(called, "want") || strings.HasPrefix(called, "expect") || called == "exp" || strings.HasSuffix(called, "want") || strings.HasSuffix(called, "expected") || called == "golden" || strings.HasPrefix(called, "output")
}

// resolved puts what given assigns in the place of a name.
func resolved(words, given []word) []word {
	if len(words) != 1 || words[0].kind != name || len(given) == 0 {
		return words
	}
	sides := split(given, ":=", "=")
	if len(sides) != 2 {
		return words
	}
	left, right := split(sides[0], ","), split(sides[1], ",")
	for i, l := range left {
		if len(l) == 1 && l[0].text == words[0].text && len(left) == len(right) {
			return right[i]
		}
	}
	return words
}

// arguments are those of the last call in words.
func arguments(words []word) [][]word {
	match := brackets(words)
	for i := len(words) - 1; i > 0; i-- {
		if words[i].is(")") && match[i] > 0 {
			return list(words[match[i]+1 : i])
		}
	}
	return nil
}

// list parts words at commas; nothing at all is no part.
func list(words []word) [][]word {
	var parts [][]word
	for _, part := range split(words, ",") {
		if len(part) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

// bound tells which side a comparison with a number holds: 1 where what is
// looked at may be at most so much, -1 where it is at least so much.
func bound(condition []word) int {
	sides := split(condition, "<", "<=", ">", ">=")
	if len(sides) != 2 || len(sides[0]) >= len(condition) {
		return 0
	}
	way := 1
	if condition[len(sides[0])].is(">", ">=") {
		way = -1
	}
	if fixed(sides[0]) {
		return 0
	}
	return way
}
