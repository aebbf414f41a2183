package tally

import "strings"

// between stands between the names of a test and of what it is within.
const between = " > "

// branch is where a line stands in a list that is told by how far in its lines
// are.
type branch []part

type part struct {
	indent int
	name   string
}

// deepest is how many names a test is qualified by at most.
const deepest = 50

// enter says that what is further in than indent belongs to name, up to a line
// that is not.
func (b *branch) enter(indent int, name string) {
	b.back(indent)
	if len(*b) < deepest {
		*b = append(*b, part{indent, kept(name)})
	}
}

// back leaves what is as far in as indent, or further.
func (b *branch) back(indent int) {
	for len(*b) > 0 && (*b)[len(*b)-1].indent >= indent {
		b.leave()
	}
}

func (b *branch) leave() {
	if n := len(*b); n > 0 {
		*b = (*b)[:n-1]
	}
}

// has tells whether name, that far in, is the innermost.
func (b *branch) has(indent int, name string) bool {
	n := len(*b)
	return n > 0 && (*b)[n-1] == part{indent, kept(name)}
}

// kept is name as long as can be kept. It is made tidy where a test has it.
func kept(name string) string {
	if len(name) <= longName {
		return name
	}
	return tidy(name)
}

// String is the name of the innermost, with all that it is within.
func (b *branch) String() string {
	names := make([]string, 0, len(*b))
	for _, part := range *b {
		names = append(names, part.name)
	}
	return strings.Join(names, between)
}
