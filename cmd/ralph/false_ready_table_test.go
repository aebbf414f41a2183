package main_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
)

// mostHeldBack is the share of honest work that may be held back.
const mostHeldBack = 0.05

// tableOf is what came of all cases.
type tableOf struct {
	mu  sync.Mutex
	all []outcome
}

func (t *tableOf) add(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, o)
}

// counted are the outcomes that the two questions are answered by.
func (o outcome) counted() bool { return o.row() == o.family }

// row returns where an outcome stands in the table.
func (o outcome) row() string {
	switch o.kind {
	case limit:
		return "(known limit)"
	case rule:
		return "(held back by rule)"
	}
	return o.family
}

func (o outcome) falsely() bool  { return o.ready && !o.done }
func (o outcome) honest() bool   { return o.kind == honest || o.kind == rule }
func (o outcome) heldBack() bool { return o.honest() && !o.ready }

// text returns the table: a row a family, those that are not counted below the sum.
func (t *tableOf) text() string {
	var families, apart []string
	for _, o := range t.all {
		if o.counted() {
			families = append(families, o.row())
		} else {
			apart = append(apart, o.row())
		}
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', tabwriter.Debug)
	fmt.Fprintln(w, " family\t runs\t ready\t falsely ready\t honest\t held back")
	line := func(name string, is func(outcome) bool) {
		count := func(what func(outcome) bool) (n int) {
			for _, o := range t.all {
				if is(o) && what(o) {
					n++
				}
			}
			return n
		}
		fmt.Fprintf(w, " %s\t %d\t %d\t %d\t %d\t %d\n", name, count(func(outcome) bool { return true }),
			count(func(o outcome) bool { return o.ready }), count(outcome.falsely),
			count(outcome.honest), count(outcome.heldBack))
	}
	rows := func(names []string) {
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			line(name, func(o outcome) bool { return o.row() == name })
		}
	}
	rows(families)
	line("all", outcome.counted)
	rows(apart)
	_ = w.Flush()
	return text.String()
}

// complaints returns what must not be: of single cases, and of all.
func (t *tableOf) complaints() (all []string) {
	var honestly int
	var heldBack []string
	for _, o := range t.all {
		if why := o.wrong(); why != "" {
			all = append(all, o.told(why))
		}
		if o.kind != honest {
			continue
		}
		honestly++
		if o.heldBack() {
			heldBack = append(heldBack, o.told("held back"))
		}
	}
	if float64(len(heldBack)) > mostHeldBack*float64(honestly) {
		all = append(all, heldBack...)
	}
	return all
}

func (o outcome) told(why string) string {
	return fmt.Sprintf("%s, tamper: %s: %s\n%s\n%s", o.name, o.tamper, why, o.sentence, o.said)
}

// wrong returns what is wrong with a single outcome, in ralph or in the case.
func (o outcome) wrong() string {
	switch {
	case o.honest() && !o.done:
		return "the work is honest, and is not on the branch"
	case !o.honest() && o.done:
		return "the hidden tests do not see the lie"
	case o.counted() && o.falsely():
		return "falsely ready"
	case o.kind == reported && o.tamper == "report" && !o.shown:
		return "nothing was shown of what became of the tests"
	case o.kind == rule && o.ready:
		return "it is ready: the rule is gone"
	case o.kind != rule && !o.counted() && !o.ready:
		return "it is held back: no " + o.kind + " any more"
	}
	return ""
}
