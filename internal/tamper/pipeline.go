package tamper

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var (
	forgiving = pattern.Of(`(^|\.)(continue-on-error|continueOnError|allow_failure|soft_fail|ignore_failure|ignore_error|ignoreErrors)$`)
	gate      = pattern.Of(`(^|\.)(if|when|condition|enabled|rules\[[^\]]*\]\.(when|if)|only\[?\]?)$`)
	trigger   = pattern.Of(`^(on|true)(\.|\[\]|$)`)
	passing   = pattern.Of(`(?i)(\.md\b|docs?/|\.txt|license|changelog|\.rst)`)
	bumped    = pattern.Of(`:?\s*["']?[\^~>=<]*\d+\.`)
	shut      = pattern.Of(`^(\$\{\{\s*)?(false|never|manual|0)(\s*\}\})?$`)
	jobOf     = pattern.Of(`^(?:jobs\.)?([\w-]+)\.`)
)

// pipelines compares what lets a job fail unseen, or not run. What it runs is
// compared as commands.
func (r *report) pipelines(was, now sheet) {
	for _, c := range r.changes {
		if has(c.Path, scripted) && c.Before != nil {
			r.forgiven(c, was.files[c.Path], now.files[c.Path])
		}
		if !has(c.Path, pipeline) || c.Before == nil {
			continue
		}
		before, after := was.files[c.Path], now.files[c.Path]
		r.forgiven(c, before, after)
		r.gates(c, before, after)
		r.waits(c, before, after)
		r.triggers(c, before, after, now)
	}
}

// forgiven reports new keys that let a failure pass.
func (r *report) forgiven(c Change, before, after []setting) {
	count := func(all []setting) int {
		n := 0
		for _, s := range all {
			if forgiving.MatchString(s.key) && truth(s.value) {
				n++
			}
		}
		return n
	}
	if count(after) <= count(before) {
		return
	}
	kind := CheckChanged
	if has(c.Path, pipeline) {
		kind = CILoosened
	}
	r.add(Finding{c.Path, kind, c.differing("continue-on-error", "allow_failure", "continueOnError", "soft_fail", "ignore_error"), "a failure does not count any more"})
}

// gates reports conditions under which a job that there was does not run.
func (r *report) gates(c Change, before, after []setting) {
	old := byKeyOf(before)
	jobs := map[string]bool{}
	for _, s := range before {
		if m := jobOf.FindStringSubmatch(s.key); m != nil {
			jobs[m[1]] = true
		}
	}
	for _, s := range after {
		m := jobOf.FindStringSubmatch(s.key)
		if m == nil || !jobs[m[1]] || !gate.MatchString(s.key) || slices.Contains(old[s.key], s.value) {
			continue
		}
		parent := s.key[:strings.LastIndex(s.key, ".")+1]
		stood := slices.ContainsFunc(before, func(b setting) bool { return strings.HasPrefix(b.key, parent) })
		closed := shut.MatchString(s.value) && s.value != "0"
		if stood && (closed || r.selective(c, s, parent, old)) {
			r.add(Finding{c.Path, CILoosened, c.differing(last(s.key)+":", s.value), "a part of CI does not run, or not always: " + short(s.key+" is "+s.value, 80)})
		}
	}
}

// waits reports jobs that no longer wait for one that checks and is still
// there.
func (r *report) waits(c Change, before, after []setting) {
	jobs := map[string]bool{}
	for _, s := range after {
		if m := jobOf.FindStringSubmatch(s.key); m != nil {
			jobs[m[1]] = true
		}
	}
	left := byKeyOf(after)
	for _, s := range before {
		m := jobOf.FindStringSubmatch(s.key)
		waits := m != nil && (strings.HasSuffix(s.key, ".needs") || strings.HasSuffix(s.key, ".needs[]"))
		if !waits || !jobs[m[1]] || !jobs[s.value] || !checking.MatchString(s.value) {
			continue
		}
		key := strings.TrimSuffix(s.key, "[]")
		if len(left[key]) == 0 && len(left[key+"[]"]) == 0 {
			r.add(Finding{c.Path, CILoosened, c.differing("needs"), "the job " + short(m[1], 40) + " does not wait for " + short(s.value, 40) + " any more"})
		}
	}
}

// selective tells whether a new condition holds a job or step back that
// checks.
func (r *report) selective(c Change, s setting, parent string, old map[string][]string) bool {
	if len(old[s.key]) > 0 || !strings.HasSuffix(s.key, ".if") {
		return false
	}
	value := s.value
	if strings.Contains(value, "always()") || strings.Contains(value, "cancelled()") || strings.Contains(value, "success()") || strings.Contains(value, "failure()") || strings.Contains(value, "fork") || strings.Contains(value, "matrix.") || strings.Contains(value, "runner.os") {
		return false
	}
	for key, values := range old {
		if !strings.HasPrefix(key, parent) || !commandKey.MatchString(key) {
			continue
		}
		for _, v := range values {
			if len(shell(c.Path, "", v, 1)) > 0 {
				return true
			}
		}
	}
	return false
}

// triggers reports events that start CI no more.
func (r *report) triggers(c Change, before, after []setting, now sheet) {
	if !strings.HasPrefix(c.Path, ".github/workflows/") || c.After == nil {
		return
	}
	checks := len(ofPipeline(c.Path, before)) > 0
	for _, event := range []string{"pull_request", "push", "merge_group"} {
		if checks && starts(before, event) && !starts(after, event) && !now.starts(event, c.Path) && (event != "push" || !starts(after, "pull_request")) {
			r.add(Finding{c.Path, CILoosened, c.differing(event), "CI does not run on " + event + " any more"})
		}
	}
	old := byKeyOf(before)
	for _, s := range after {
		ignores := trigger.MatchString(s.key) && (strings.Contains(s.key, "paths-ignore") || strings.Contains(s.key, "branches-ignore"))
		if ignores && !slices.Contains(old[s.key], s.value) && !passing.MatchString(s.value) {
			r.add(Finding{c.Path, CILoosened, c.differing(s.value), "CI does not look at " + short(s.value, 60)})
		}
	}
}

// starts tells whether an event starts CI by another file.
func (s sheet) starts(event, but string) bool {
	for name, all := range s.files {
		if name != but && has(name, pipeline) && starts(all, event) {
			return true
		}
	}
	return false
}

func starts(all []setting, event string) bool {
	return slices.ContainsFunc(all, func(s setting) bool {
		return trigger.MatchString(s.key) && (strings.HasPrefix(s.key, "on."+event) || strings.HasPrefix(s.key, "true."+event) || (s.key == "on" || s.key == "on[]") && s.value == event)
	})
}

var (
	ending   = pattern.Of(`\bexit [1-9$]`)
	succeeds = pattern.Of(`\bexit 0\b`)
)

// exits reports a script that ended with a failure, and ends well instead.
func (r *report) exits(c Change) {
	count := func(text []byte, form *pattern.Pattern) int { return len(form.FindAllIndex(text, -1)) }
	if count(c.After, ending) < count(c.Before, ending) && count(c.After, succeeds) > count(c.Before, succeeds) {
		r.add(Finding{c.Path, CheckChanged, c.differing("exit"), "what failed ends with success"})
	}
}

var numbered = pattern.Of(`(?i)(cov(er(age)?)?|threshold|fail[-_ ]?under|min(imum)?[-_ ]?(cov|percent))`)

// numbers reports lines of commands that are the same but for a number, which
// is a floor of coverage and has sunk.
func (r *report) numbers(c Change) {
	if !has(c.Path, pipeline) && !has(c.Path, scripted) {
		return
	}
	r.exits(c)
	figure := pattern.Of(`\d+(\.\d+)?`)
	came := map[string]Line{}
	for _, line := range c.came() {
		came[figure.ReplaceAllString(line.Text, "#")] = line
	}
	for _, old := range c.gone() {
		line, paired := came[figure.ReplaceAllString(old.Text, "#")]
		if !paired || !numbered.MatchString(old.Text) || strings.Contains(old.Text, "uses:") || strings.Contains(old.Text, "==") && strings.Contains(old.Text, "cov==") {
			continue
		}
		one, two := figure.FindAllString(old.Text, -1), figure.FindAllString(line.Text, -1)
		for i := range one {
			if parse(two[i]) < parse(one[i]) && parse(one[i]) <= 100 {
				r.add(Finding{c.Path, CoverageLowered, trim([]Line{old, line}), "a floor of coverage sinks"})
				break
			}
		}
	}
}
