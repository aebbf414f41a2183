package tamper

import (
	"slices"
	"strings"
)

// sought tells whether what was compared is what is looked for now, as
// testing-library has it: getByText('x') fails where there is no x.
func sought(a aligned) bool {
	finds := slices.ContainsFunc(a.now.subject, func(w word) bool {
		return strings.HasPrefix(w.text, "getBy") || strings.HasPrefix(w.text, "findBy") || strings.HasPrefix(w.text, "getAllBy") || strings.HasPrefix(w.text, "queryBy")
	})
	wanted := values(a.was.expected)
	return finds && len(wanted) > 0 && wanted.within(values(a.now.subject))
}

// passesOver tells whether a comparison of all there is now leaves out only what
// came with the change.
func (r *report) passesOver(a aligned) bool {
	own, some := values(a.was.words), false
	for _, w := range a.now.words {
		if w.kind != text || own[w.key()] > 0 {
			continue
		}
		if !r.came(w.text) {
			return false
		}
		some = true
	}
	return some && names(a.now.words, func(n string) bool { return strings.HasPrefix(n, "Ignore") })
}

// came tells whether the code has a member that it had not.
func (r *report) came(field string) bool {
	has := func(p *page) bool { return p.fields[field] }
	return slices.ContainsFunc(r.after.pages, has) && !slices.ContainsFunc(r.before.pages, has)
}

// membered tells whether a member has to be what it was, within the object that it
// is of: {code: 'x'} where .code was 'x'.
func membered(a aligned) bool {
	wanted := values(a.was.expected)
	if len(a.was.subject) < 3 || !a.was.subject[len(a.was.subject)-2].is(".", "?.") || len(wanted) == 0 || a.now.force == vain {
		return false
	}
	member := a.was.subject[len(a.was.subject)-1]
	return member.kind == name && slices.ContainsFunc(a.now.expected, func(w word) bool { return w.text == member.text }) && wanted.within(values(a.now.expected))
}

// emptied tells whether "is empty" is only said in another way.
func emptied(a aligned) bool {
	none := joined(a.was.expected)
	empty := none == "0" || none == "[ ]" || none == "{ }" || none == `"` || none == "( )"
	return empty && a.now.none && named(a.was.subject).within(named(a.now.words))
}
