package tamper

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Libraries of assertions and runners, where a file of the project's own is
// said to be one.
var (
	stubbedGo     = pattern.Of(`(?:^|\s)(\S*(?:testify|gomega|ginkgo|quicktest|gotest\.tools|go-cmp|gocheck|check\.v1|/is|assert|convey|autogold)\S*)(?:\s+v\S+)?\s+=>\s+[./]`)
	stubbedScript = pattern.Of(`"((?:@[\w-]+/)?(?:jest|vitest|mocha|chai|ava|tape|tap|expect|uvu|jasmine|karma|playwright|cypress|should|sinon|node-assert|assert)[\w/-]*)"\s*:\s*"(?:file|link|portal):`)
	stubbedPython = pattern.Of(`(?:^|["'\s])((?:pytest|nose2?|hypothesis|assertpy|hamcrest|pluggy|unittest2)[\w-]*)\s*(?:@\s*file:|=\s*\{[^}]*path\s*=)`)
)

// fakes is a module of the code's that jest or vitest is to take from a folder of
// doubles; what is no code has always been taken from there.
var (
	fakes   = pattern.Of(`^['"]?([^'"]+)['"]?\s*:\s*\[?['"](?:<rootDir>/|\./)?((?:[\w.-]+/)*(?:__mocks__|mocks?|fakes?|stubs?|doubles|tests?)/[\w./$-]+)['"]`)
	noCode  = pattern.Of(`(?i)css|less|sass|scss|styl|svg|png|jpe?g|gif|webp|woff|ttf|eot|mp[34]|asset|image|font|style|file|\.md|mdx|graphql|virtual:`)
	mapping = pattern.Of(`moduleNameMapper|\balias\b`)
	uses    = pattern.Of(`^(?:use\s+)?(\.{1,2}(?:/[\w./-]*)?)$`)
	preload = pattern.Of(`(^|/)((site|user)customize\.py|(site|user)customize/__init__\.py|[\w.-]+\.pth)$`)
)

// swapped reports what is run before the tests, or in the place of the code,
// where it was not before.
func (r *report) swapped() {
	for _, c := range r.changes {
		base := path.Base(c.Path)
		if base == "package.json" {
			r.led(c)
		}
		switch {
		case preload.MatchString(c.Path) && c.After != nil && !noFolder.MatchString(c.Path):
			r.add(Finding{c.Path, CheckChanged, trim(c.came()), "python runs it before all else, tests too"})
		case base == "go.work" && c.After != nil:
			r.unused(c)
		case has(c.Path, running) && mapping.MatchString(string(c.After)):
			r.doubled(c)
		}
	}
}

// doubled reports modules that doubles stand in for.
func (r *report) doubled(c Change) {
	for _, line := range c.came() {
		text := strings.TrimSpace(line.Text)
		if at := mapping.FindStringIndex(text); at != nil {
			text = strings.TrimLeft(strings.TrimLeft(text[at[1]:], `"': `), "{ ")
		}
		if found := fakes.FindStringSubmatch(text); found != nil && !noCode.MatchString(found[1]) && !strings.HasPrefix(found[2], "node_modules") {
			r.add(Finding{c.Path, CheckChanged, trim([]Line{line}), "a file of the tests stands in for " + short(found[1], 80)})
		}
	}
}

// led reports names by which files of a package are asked for, and that lead to
// others though the old ones are still there.
func (r *report) led(c Change) {
	var was, now struct{ Imports map[string]any }
	if json.Unmarshal(c.Before, &was) != nil || json.Unmarshal(c.After, &now) != nil {
		return
	}
	for _, called := range slices.Sorted(maps.Keys(was.Imports)) {
		to, still := now.Imports[called]
		if !still || reflect.DeepEqual(to, was.Imports[called]) {
			continue
		}
		for _, old := range texts(was.Imports[called]) {
			if file := r.change(path.Join(path.Dir(c.Path), old)); file.Before == nil || file.After != nil { // it did not go
				r.add(Finding{c.Path, CheckChanged, trim(c.came()), "another file stands in for " + short(called, 80) + ", which was " + short(old, 80)})
				break
			}
		}
	}
}

// texts are those in a value of JSON.
func texts(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, each := range v {
			all = append(all, texts(each)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, texts(v[key])...)
		}
	}
	return all
}

// unused reports modules that a workspace leaves out, and that are still there.
func (r *report) unused(c Change) {
	for _, line := range c.gone() {
		found := uses.FindStringSubmatch(strings.TrimSpace(line.Text))
		if found == nil {
			continue
		}
		mod := r.change(path.Join(path.Dir(c.Path), found[1], "go.mod"))
		if mod.Before == nil || mod.After != nil { // it did not go
			r.add(Finding{c.Path, CheckChanged, trim([]Line{line}), "the module " + short(found[1], 80) + " is not part of the workspace any more, nor are its tests"})
		}
	}
}

// stubbed tells whether a module is replaced by a folder of the project's own in
// which something takes a *testing.T.
func (r *report) stubbed(c Change, line Line) (string, bool) {
	module, to, is := strings.Cut(line.Text, "=>")
	to = strings.TrimSpace(to)
	if !is || path.Base(c.Path) != "go.mod" || !strings.HasPrefix(to, ".") {
		return "", false
	}
	folder := path.Join(path.Dir(c.Path), to) + "/"
	for _, h := range r.after.helpers {
		if strings.HasPrefix(h.page.path, folder) && h.tester {
			return strings.TrimPrefix(strings.TrimSpace(module), "replace "), true
		}
	}
	return "", false
}

// replaced reports a library of assertions, or a runner, whose place something
// of the project's own has taken.
func (r *report) replaced() {
	for _, c := range r.changes {
		form := stubForm(path.Base(c.Path))
		if form == nil || c.Before == nil {
			continue
		}
		for _, line := range c.came() {
			if module, is := r.stubbed(c, line); is {
				r.add(Finding{c.Path, CheckChanged, trim([]Line{line}), "files of the project stand in for " + short(module, 80) + ", which the tests check with"})
				continue
			}
			if found := form.FindStringSubmatch(line.Text); found != nil && !strings.HasPrefix(line.Text, "//") && !strings.HasPrefix(line.Text, "#") {
				r.add(Finding{c.Path, CheckChanged, trim([]Line{line}), "files of the project stand in for " + short(found[1], 80) + ", which the tests check with"})
			}
		}
	}
}

func stubForm(base string) *pattern.Pattern {
	switch {
	case base == "go.mod" || base == "go.work":
		return stubbedGo
	case base == "package.json":
		return stubbedScript
	case base == "pyproject.toml" || strings.HasPrefix(base, "requirements") && strings.HasSuffix(base, ".txt"):
		return stubbedPython
	default:
		return nil
	}
}
