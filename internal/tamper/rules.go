package tamper

import (
	"maps"
	"slices"
	"strings"
)

// rules compares settings file by file.
func (r *report) rules(was, now sheet) {
	for _, c := range r.changes {
		for _, of := range []role{lints, covers, running} {
			if has(c.Path, of) {
				r.ruled(c, of, was, now)
			}
		}
	}
}

func (r *report) ruled(c Change, of role, was, now sheet) {
	before, after := byKeyOf(was.files[c.Path]), byKeyOf(now.files[c.Path])
	if unread(c, before, after) || c.Before == nil && (of == lints && !onlyIgnores(c, was) || of == covers && inherited(c, was)) {
		return // of what is new, rules are none the less rules
	}
	if c.After == nil && heir(c, now) {
		after = before // another file has taken over
	}
	both := maps.Clone(before)
	maps.Copy(both, after)
	for _, key := range slices.Sorted(maps.Keys(both)) {
		rule, is := ruleOf(c.Path, of, key)
		if !is || c.Before == nil && rule.bad != more {
			continue
		}
		if words := rule.broken(key, before[key], after[key], before, after); words != nil && !moved(c, key, before[key], was, now) && !r.followed(of, before[key], after[key]) {
			r.add(Finding{c.Path, rule.kind, c.differing(append(words, last(key))...), rule.why + ": " + short(key, 80)})
		}
	}
}

// followed tells whether a folder of tests has another name, and the tests
// have moved there.
func (r *report) followed(of role, was, now []string) bool {
	lies := func(pages []*page, folders []string) bool {
		return slices.ContainsFunc(pages, func(p *page) bool {
			return p.collects && slices.ContainsFunc(folders, func(f string) bool { return f != "" && strings.HasPrefix(p.path, strings.TrimSuffix(f, "/")+"/") })
		})
	}
	return of == running && lies(r.before.pages, was) && lies(r.after.pages, now) && !lies(r.after.pages, was)
}

// unread tells whether a file is there on a side, and says nothing to us.
func unread(c Change, before, after map[string][]string) bool {
	return len(before) == 0 && c.Before != nil || len(after) == 0 && len(c.After) > 0
}

// ruleOf is the rule for a key.
func ruleOf(file string, of role, key string) (rule, bool) {
	for _, rule := range ruleTable {
		if rule.of == of && strings.Contains(file, rule.file) && rule.key.MatchString(key) {
			return rule, true
		}
	}
	return rule{}, false
}

// onlyIgnores tells whether a file does nothing but keep others out, and no
// settings did so before it.
func onlyIgnores(c Change, was sheet) bool {
	for _, text := range was.texts {
		if strings.Contains(text, "ignore") {
			return false
		}
	}
	return strings.HasSuffix(c.Path, ".eslintignore")
}

// inherited tells whether a new file has taken over from another.
func inherited(c Change, was sheet) bool {
	for name := range was.files {
		if name != c.Path && slices.ContainsFunc(rolesOf(name), func(of role) bool { return has(c.Path, of) }) {
			return true
		}
	}
	return false
}

// moved tells whether a setting stands in another file now, as it was.
func moved(c Change, key string, value []string, was, now sheet) bool {
	if len(value) == 0 {
		return false
	}
	for name, all := range now.files {
		if name == c.Path {
			continue
		}
		old, fresh := byKeyOf(was.files[name]), byKeyOf(all)
		for other, values := range fresh {
			if last(other) == last(key) && slices.Equal(values, value) && !slices.Equal(old[other], values) {
				return true
			}
		}
	}
	return false
}

func last(key string) string {
	key = strings.TrimSuffix(key, "[]")
	return key[strings.LastIndex(key, ".")+1:]
}

func byKeyOf(all []setting) map[string][]string {
	keys := map[string][]string{}
	for _, s := range all {
		keys[s.key] = append(keys[s.key], s.value)
	}
	return keys
}

// heir tells whether a file that is gone has one of its kind in its place.
func heir(c Change, now sheet) bool {
	for name := range now.files {
		if name != c.Path && slices.Equal(rolesOf(name), rolesOf(c.Path)) || strings.HasSuffix(name, "pyproject.toml") || strings.HasSuffix(name, "package.json") {
			return true
		}
	}
	return false
}

// broken tells whether a setting gives way; the words are those to look for
// in the diff, and none at all say that it does not.
func (rule rule) broken(key string, was, now []string, before, after map[string][]string) []string {
	one, two := first(was), first(now)
	gives := false
	switch rule.bad {
	case isFalse:
		gives = truth(one) && !truth(two)
	case isTrue:
		gives = !truth(one) && truth(two)
	case lower:
		gives = one != "" && parse(digits(two)) < parse(digits(one))
	case higher:
		gives = one != "" && two != "" && parse(digits(two)) > parse(digits(one)) && !width(one, two)
	case risen:
		gives = two != "" && digits(two) == two && parse(two) > parse(digits(one))
	case more:
		return added(was, now, before, after)
	case fewer:
		if lost := strayed(key, was, now); lost != nil {
			return lost
		}
		return removed(was, now)
	case weakerOf:
		gives = one != "" && weaker(one, two)
	}
	if !gives {
		return nil
	}
	return []string{two}
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func truth(value string) bool {
	value = strings.ToLower(value)
	return value == "true" || value == "1" || value == "yes" || value == "on" || value == "error" || value == "warn"
}

func digits(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
}

// width lets lines be a little longer: that is taste.
func width(one, two string) bool { return parse(one) >= 70 && parse(two) <= 120 }

func weaker(one, two string) bool {
	for _, scale := range scales {
		i, j := slices.Index(scale, strings.ToLower(one)), slices.Index(scale, strings.ToLower(two))
		if i >= 0 && j > i || i >= 0 && i < len(scale)-1 && two == "" && scale[0] != "all" {
			return true
		}
	}
	return false
}

// added are new elements, but for what nobody checks, and for codes of a
// family that was not selected before.
func added(was, now []string, before, after map[string][]string) []string {
	var found []string
	for _, value := range now {
		if slices.Contains(was, value) || harmless.MatchString(value) || ofNewFamily(value, before, after) || strings.HasPrefix(value, "!") && len(value) > 1 && strings.Contains(value, "__") {
			continue
		}
		found = append(found, value)
	}
	return found
}

func ofNewFamily(code string, before, after map[string][]string) bool {
	for key, values := range after {
		if !strings.Contains(key, "select") && !strings.Contains(key, "enable") {
			continue
		}
		for _, v := range values {
			if !slices.Contains(before[key], v) && (strings.HasPrefix(code, v) || v == "ALL") && v != "" {
				return true
			}
		}
	}
	return false
}

// retired are linters that are no more, or have another name.
var retired = set("golint interfacer maligned scopelint deadcode varcheck structcheck ifshort nosnakecase exhaustivestruct tenv exportloopref execinquery gomnd goerr113 gosimple stylecheck typecheck gci")

// removed are elements that are no more and have no successor.
func removed(was, now []string) []string {
	var found []string
	for _, value := range was {
		if slices.Contains(now, value) || retired[value] {
			continue
		}
		succeeded := slices.ContainsFunc(now, func(n string) bool {
			return n == "ALL" || n == "*" || n == "." || strings.HasPrefix(value, n) && n != "" || !slices.Contains(was, n) && (strings.HasPrefix(n, value) && !strings.Contains(value, "*") && len(value) > 3 || stronger(value, n) || broader(value, n))
		})
		if !succeeded {
			found = append(found, value)
		}
	}
	return found
}

// subsequence tells whether the parts of a path stand in another, in their
// order.
func subsequence(parts, of []string) bool {
	for _, part := range parts {
		i := slices.Index(of, part)
		if i < 0 {
			return false
		}
		of = of[i+1:]
	}
	return true
}

// presets are sets of rules from the smallest up.
var presets = []string{"base", "minimal", "basic", "essential", "recommended", "strict", "all"}

// stronger tells whether one set of rules makes place for a larger one.
func stronger(old, fresh string) bool {
	rank := func(text string) int {
		at := -1
		for i, p := range presets {
			if strings.Contains(strings.ToLower(text), p) {
				at = i
			}
		}
		return at
	}
	return rank(fresh) >= 0 && rank(fresh) >= rank(old)
}

// broader tells whether a glob finds what another did.
func broader(old, fresh string) bool {
	if strings.HasPrefix(fresh, "**/") && subsequence(strings.Split(fresh, "/"), strings.Split(old, "/")) {
		return true
	}
	return strings.Contains(fresh, "*") && strings.Count(fresh, "*") >= strings.Count(old, "*") && len(fresh) <= len(old)+12 && !strings.Contains(fresh, "/") == !strings.Contains(old, "/")
}
