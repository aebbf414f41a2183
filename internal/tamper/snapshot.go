package tamper

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var (
	snapshotFile = pattern.Of(`(?i)((^|/)__(image_)?snapshots__/|\.snap$|\.snapshot$|\.ambr$|\.golden(\.\w+)?$|(^|/)goldens?/|\.approved(\.\w+)?$|\.(expected|want)(\.\w+)?$|(^|/)(expected|want|golden)[._-][^/]*$|[._-](expected|want|golden|snapshot)\.\w+$|(^|/)(snapshots|expected|expectations?)/)`)
	wantedPart   = pattern.Of(`(?i)(want|golden|expect|^std(out|err)|^out(put)?\b)`)
	entry        = pattern.Of("(?ms)^exports\\[`(.*?)`\\] = `(.*?)`;$")
)

// snapshot tells whether a file holds what has to come out.
func snapshot(name string) bool {
	return snapshotFile.MatchString(name) && languageOf(name) != golang && !noFolder.MatchString(name) && !collected(name)
}

// snapshots reports what has to come out and was rewritten though nothing
// that makes it has changed.
func (r *report) snapshots() {
	if r.product.any {
		return
	}
	added := map[string]bool{}
	var near []string
	for _, c := range r.changes {
		switch {
		case c.Before == nil && snapshot(c.Path):
			added[squeeze(c.After)] = true
		case c.Before != nil && fixtureName.MatchString(c.Path) && !snapshot(c.Path) && len(near) < 500:
			near = append(near, c.Path)
		}
	}
	for _, c := range r.changes {
		moved := c.After == nil && added[squeeze(c.Before)]
		if c.Before != nil && !moved && !inputsBeside(c, near) {
			r.golden(c)
		}
	}
}

// golden compares what has to come out.
func (r *report) golden(c Change) {
	was, now, is := goldens(c)
	if !is {
		return
	}
	rewritten, removed := 0, 0
	for key, text := range was {
		switch later, still := now[key]; {
		case !still && !r.testGone(key):
			removed++
		case still && squeeze([]byte(later)) != squeeze([]byte(text)):
			rewritten++
		}
	}
	why := "what has to come out is rewritten, and nothing that makes it has changed"
	if rewritten == 0 {
		why = "what has to come out is no longer written down"
	}
	if rewritten+removed > 0 {
		r.add(Finding{c.Path, SnapshotRewritten, c.differing(), why})
	}
}

// goldens are the parts of a file that say what has to come out.
func goldens(c Change) (was, now map[string]string, is bool) {
	switch {
	case strings.HasSuffix(c.Path, ".txtar") && strings.Contains(c.Path, "testdata/"):
		was, now = parts(c.Before), parts(c.After)
		return was, now, len(was) > 0
	case !snapshot(c.Path):
		return nil, nil, false
	case strings.HasSuffix(c.Path, ".snap"):
		was, now = entries(c.Before), entries(c.After)
		if len(was) > 0 {
			return was, now, true
		}
	}
	was, now = map[string]string{"": string(c.Before)}, map[string]string{}
	if c.After != nil {
		now[""] = string(c.After)
	}
	return was, now, true
}

func parts(data []byte) map[string]string {
	all := map[string]string{}
	for _, f := range txtar.Parse(data).Files {
		if wantedPart.MatchString(path.Base(f.Name)) {
			all[f.Name] = string(f.Data)
		}
	}
	return all
}

func entries(data []byte) map[string]string {
	all := map[string]string{}
	for _, m := range entry.FindAllStringSubmatch(string(data), -1) {
		all[m[1]] = m[2]
	}
	return all
}

// squeeze is a text without what only formats it.
func squeeze(data []byte) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`\`, "", `"`, "", "'", "", "Object {", "{", "Array [", "[", ",", "").Replace(string(data))), "")
}

// inputsBeside tells whether a fixture near a file changed with it.
func inputsBeside(c Change, fixtures []string) bool {
	for _, other := range fixtures {
		if other != c.Path && (path.Dir(other) == path.Dir(c.Path) || path.Dir(path.Dir(other)) == path.Dir(path.Dir(c.Path))) {
			return true
		}
	}
	return strings.HasSuffix(c.Path, ".txtar") && rest(c.Before) != rest(c.After)
}

// rest is what an archive holds besides.
func rest(data []byte) string {
	var all strings.Builder
	a := txtar.Parse(data)
	all.Write(a.Comment)
	for _, f := range a.Files {
		if !wantedPart.MatchString(path.Base(f.Name)) {
			all.WriteString(f.Name + "\n" + string(f.Data))
		}
	}
	return all.String()
}

// testGone tells whether the test of an entry has another name now, or is no
// more; that is for others to report.
func (r *report) testGone(key string) bool {
	for _, t := range r.before.tests {
		if t.name != "" && key != "" && strings.Contains(key, t.name) {
			return !slices.ContainsFunc(r.after.tests, func(later *test) bool { return later.key() == t.key() })
		}
	}
	return false
}
