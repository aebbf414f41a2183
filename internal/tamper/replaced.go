package tamper

import (
	"path"
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

// replaced reports a library of assertions, or a runner, whose place something
// of the project's own has taken.
func (r *report) replaced() {
	for _, c := range r.changes {
		form := stubForm(path.Base(c.Path))
		if form == nil || c.Before == nil {
			continue
		}
		for _, line := range c.came() {
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
