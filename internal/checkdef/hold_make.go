package checkdef

import (
	"slices"
	"strings"
)

// holdTargets is a Makefile with the rules of some targets as they were. Where
// something else bears on them that is not as it was, it is not sure.
func holdTargets(was, now []byte, parts []string) (text []byte, sure bool) {
	old, young := rulesOf(was), rulesOf(now)
	if !slices.Equal(oddLines(old), oddLines(young)) || lost(phony(old), phony(young), parts) || narrowed(old, young, parts) {
		return nil, false
	}
	changed := slices.ContainsFunc(parts, func(name string) bool { return differ(named(old, name), named(young, name)) })
	if !changed {
		return now, true
	}
	if tangled(old, parts) || tangled(young, parts) {
		return nil, false
	}
	return putRules(old, young, parts), true
}

// putRules has the rules of some targets stand where they stand now, as they were.
func putRules(old, young []rule, parts []string) []byte {
	var text strings.Builder
	for _, r := range young {
		if !r.isOf(parts) {
			text.WriteString(r.text())
			continue
		}
		for _, before := range named(old, r.names[0]) {
			text.WriteString(before.text())
		}
	}
	for _, r := range old {
		if r.isOf(parts) && len(named(young, r.names[0])) == 0 {
			text.WriteString("\n" + r.text())
		}
	}
	return []byte(text.String())
}

func (r rule) text() string {
	text := r.first + strings.Join(r.lines, "")
	if text == "" {
		return ""
	}
	return strings.TrimSuffix(text, "\n") + "\n" // others may follow
}

func (r rule) isOf(parts []string) bool {
	return slices.ContainsFunc(r.names, func(name string) bool { return slices.Contains(parts, name) })
}

func named(rules []rule, name string) []rule {
	var some []rule
	for _, r := range rules {
		if slices.Contains(r.names, name) {
			some = append(some, r)
		}
	}
	return some
}

// differ tells whether the rules of a target do otherwise. To need more is no
// matter.
func differ(old, young []rule) bool {
	return !slices.EqualFunc(old, young, func(a, b rule) bool {
		return a.recipe() == b.recipe() && !slices.ContainsFunc(a.needs, func(need string) bool { return !slices.Contains(b.needs, need) })
	})
}

// tangled tells of a target that has several rules, or a rule of several.
func tangled(rules []rule, parts []string) bool {
	return slices.ContainsFunc(parts, func(name string) bool {
		own := named(rules, name)
		return len(own) > 1 || len(own) == 1 && len(own[0].names) > 1
	})
}

// loose are the lines that belong to no rule.
func loose(rules []rule) []string {
	var all []string
	for _, r := range rules {
		if len(r.names) == 0 {
			all = append(all, r.lines...)
		}
	}
	return all
}

func oddLines(rules []rule) []string {
	var all []string
	for _, line := range loose(rules) {
		if odd.MatchString(line) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// phony are the targets that are made though a file has their name.
func phony(rules []rule) []string {
	var all []string
	for _, r := range named(rules, ".PHONY") {
		all = append(all, r.needs...)
	}
	return all
}

// lost tells whether one of some words is gone from a list.
func lost(old, young, of []string) bool {
	return slices.ContainsFunc(of, func(word string) bool { return slices.Contains(old, word) && !slices.Contains(young, word) })
}

// narrowed tells whether a variable that the recipes use, and those it is made
// of, holds less than it did.
func narrowed(old, young []rule, parts []string) bool {
	was, now, last, latest := variables(old), variables(young), effective(old), effective(young)
	var used []string
	for _, name := range parts {
		for _, r := range named(old, name) {
			used = append(used, uses(r.recipe()+strings.Join(r.needs, " "))...)
		}
	}
	for n := 0; n < len(used) && n < mostErrands; n++ {
		if lost(was[used[n]], now[used[n]], was[used[n]]) || lost(last[used[n]], latest[used[n]], last[used[n]]) {
			return true
		}
		for _, more := range uses(strings.Join(was[used[n]], " ")) {
			if !slices.Contains(used, more) {
				used = append(used, more)
			}
		}
	}
	return false
}

// variables are what is assigned, in words.
func variables(rules []rule) map[string][]string {
	all := map[string][]string{}
	for _, line := range loose(rules) {
		if found := assigned.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			all[found[1]] = append(all[found[1]], strings.Fields(found[3])...)
		}
	}
	return all
}

// effective is what variables hold in the end, as far as no condition says
// otherwise.
func effective(rules []rule) map[string][]string {
	all := map[string][]string{}
	for _, line := range loose(rules) {
		found := assigned.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil || found[2] == "?=" && all[found[1]] != nil {
			continue
		}
		if found[2] != "+=" {
			all[found[1]] = nil
		}
		all[found[1]] = append(all[found[1]], strings.Fields(found[3])...)
	}
	return all
}

func uses(text string) []string {
	var all []string
	for _, found := range called.FindAllStringSubmatch(text, -1) {
		all = append(all, found[1]+found[2])
	}
	return all
}
