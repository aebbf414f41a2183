package tamper

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// suppression is a remark that makes a tool look away.
type suppression struct {
	family string
	codes  []string // none: all there are
	reason bool     // it says why
	line   int
}

// families are the remarks that tools heed, with what they name.
var families = []struct {
	name     string
	form     *pattern.Pattern
	language []language
	coverage bool
}{
	{"nolint", pattern.Of(`^//\s?nolint(?::([\w,\- ]+))?`), []language{golang}, false},
	{"lint:ignore", pattern.Of(`^//lint:(?:file-)?ignore\s+(\S+)`), []language{golang}, false},
	{"nosec", pattern.Of(`#nosec\b(?:\s+([\w ,]+))?`), []language{golang}, false},
	{"revive:disable", pattern.Of(`^//revive:disable(?:[\w-]*)(?::([\w-]+))?`), []language{golang}, false},
	{"noqa", pattern.Of(`(?i)^#\s*(?:(?:ruff|flake8):\s*)?noqa\b(?::\s*([A-Z]+\d+[A-Z\d, ]*))?`), []language{python}, false},
	{"type: ignore", pattern.Of(`^#\s*type:\s*ignore(?:\[([^\]]+)\])?`), []language{python}, false},
	{"mypy", pattern.Of(`^#\s*mypy:\s*(ignore-errors|disable-error-code\S*|allow-\S+|no-\S+)`), []language{python}, false},
	{"pyright", pattern.Of(`^#\s*pyright:\s*(?:ignore(?:\[([^\]]+)\])?|basic|\w+=(?:false|none))`), []language{python}, false},
	{"pylint: disable", pattern.Of(`#\s*pylint:\s*(?:disable|skip-file)(?:-next)?(?:=([\w,\- ]+))?`), []language{python}, false},
	{"nosec", pattern.Of(`#\s*nosec\b(?:[: ]\s*(B\d[\w, ]*))?`), []language{python}, false},
	{"eslint-disable", pattern.Of(`^(?://|/\*)\s*(?:eslint|oxlint)-disable(?:-next-line|-line)?(?:\s+([@\w/,\- ]+?))?\s*(?:--.*)?(?:\*/)?$`), []language{script}, false},
	{"eslint-rule-off", pattern.Of(`^/\*\s*eslint\s+([@\w/-]+)\s*:\s*(?:0|"?off"?)`), []language{script}, false},
	{"tslint:disable", pattern.Of(`^(?://|/\*)\s*tslint:disable(?:-next-line|-line)?(?::([\w ,-]+))?`), []language{script}, false},
	{"biome-ignore", pattern.Of(`^(?://|/\*)\s*biome-ignore(?:-\w+)?\s+([\w/]+)`), []language{script}, false},
	{"@ts-ignore", pattern.Of(`^(?://+|/\*+)\s*@ts-(?:ignore)`), []language{script}, false},
	{"@ts-expect-error", pattern.Of(`^(?://+|/\*+)\s*@ts-expect-error`), []language{script}, false},
	{"@ts-nocheck", pattern.Of(`^(?://+|/\*+)\s*@ts-nocheck`), []language{script}, false},
	{"no cover", pattern.Of(`^#\s*pragma:\s*no\s*(?:cover|branch)`), []language{python}, true},
	{"coverage ignore", pattern.Of(`^(?://|/\*)\s*(?:istanbul|c8|v8|node:coverage)\s+(?:ignore|disable)`), []language{script}, true},
}

func suppressionsOf(p *page) []suppression {
	var all []suppression
	for _, note := range p.remarks {
		for _, part := range pieces(note.text) {
			if s, is := suppressionIn(part, p.language); is {
				s.line = note.line
				all = append(all, s)
			}
		}
	}
	return all
}

func suppressionIn(part string, in language) (suppression, bool) {
	for _, f := range families {
		if !slices.Contains(f.language, in) {
			continue
		}
		if m := f.form.FindStringSubmatch(part); m != nil {
			s := suppression{family: f.name, reason: reasoned(part, m[0])}
			if len(m) > 1 {
				s.codes = codes(m[1])
			}
			return s, true
		}
	}
	return suppression{}, false
}

// reasoned tells whether a remark goes on to say why.
func reasoned(part, form string) bool {
	rest := strings.TrimLeft(strings.TrimPrefix(part, form), " /*-:")
	_, after, told := strings.Cut(form, "--")
	return rest != "" || told && strings.TrimSpace(after) != ""
}

// excused tells whether a suppression came with the code that it is about,
// and names what it is for: that is how such remarks are meant. One that is
// put to code that was there is not.
func (r *report) excused(p *page, s suppression) bool {
	if len(s.codes) == 0 || strings.Contains(s.family, "nocheck") {
		return false
	}
	c := r.change(p.path)
	lines := strings.Split(string(c.After), "\n")
	grown := map[string]int{}
	for line := range strings.Lines(string(c.Before)) {
		grown[bare(line)]--
	}
	for _, line := range lines {
		grown[bare(line)]++
	}
	for n := s.line - 1; n < len(lines) && n < s.line+2; n++ {
		code := bare(lines[n])
		if code == "" {
			continue // it stands above what it is about
		}
		imports := strings.HasPrefix(code, "import ") || strings.HasPrefix(code, "from ")
		return grown[code] > 0 && (s.reason || imports)
	}
	return false
}

// bare is a line without what stands behind it.
func bare(line string) string {
	for _, note := range []string{"//", "#", "/*"} {
		if before, _, found := strings.Cut(line, note); found {
			line = before
		}
	}
	return strings.TrimSpace(line)
}

// pieces parts a remark that holds several: "# type: ignore  # noqa".
func pieces(text string) []string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "#") || len(text) > 500 {
		return []string{text}
	}
	var all []string
	for part := range strings.SplitSeq(text[1:], "#") {
		all = append(all, "#"+part)
	}
	return all
}

func codes(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(all)
	return slices.Compact(all)
}

// suppressions reports remarks that are new: more of a family than there
// were, over all files, or one that covers more.
func (r *report) suppressions() {
	was := map[string]int{}
	for _, p := range r.before.pages {
		tell(p, was)
	}
	for _, p := range r.after.pages {
		old := map[string]int{}
		if i := slices.IndexFunc(r.before.pages, func(b *page) bool { return b.path == p.path }); i >= 0 {
			tell(r.before.pages[i], old)
		}
		r.newer(p, was, old)
	}
}

// tell counts what the suppressions of a page cover.
func tell(p *page, into map[string]int) {
	for _, s := range suppressionsOf(p) {
		for _, key := range s.keys() {
			into[key]++
		}
	}
}

// keys are what a suppression covers, one by one.
func (s suppression) keys() []string {
	if len(s.codes) == 0 {
		return []string{s.all()}
	}
	var keys []string
	for _, code := range s.codes {
		keys = append(keys, s.family+"\x00"+code)
	}
	return keys
}

func (s suppression) all() string { return s.family + "\x00*" }

// newer reports what a file has that neither it nor any other had. What the
// file itself had is settled first: it has not moved.
func (r *report) newer(p *page, was, old map[string]int) {
	var fresh []suppression
	for _, s := range suppressionsOf(p) {
		unknown := false
		for _, key := range s.keys() {
			if old[key] > 0 {
				old[key]--
				was[key]--
				continue
			}
			unknown = true
		}
		if unknown {
			fresh = append(fresh, s)
		}
	}
	for _, s := range fresh {
		typed := p.collects && s.family == "@ts-expect-error" // there it is an assertion
		if !s.moved(was) && !r.excused(p, s) && !typed {
			r.add(Finding{p.path, kindOfRemark(s.family), pick(r.change(p.path).After, true, s.line), "a new " + s.family + " makes the tools look away"})
		}
	}
}

// moved tells whether all that a suppression covers was covered somewhere
// else. One that named nothing may name something now.
func (s suppression) moved(was map[string]int) bool {
	all := true
	for _, key := range s.keys() {
		switch {
		case was[key] > 0:
			was[key]--
		case was[s.all()] > 0:
			was[s.all()]--
		default:
			all = false
		}
	}
	return all
}

func kindOfRemark(family string) Kind {
	for _, f := range families {
		if f.name == family && f.coverage {
			return CoverageLowered
		}
	}
	return LintLoosened
}
