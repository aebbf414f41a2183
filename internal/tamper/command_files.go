package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// commandsOf finds the commands of a file that check something.
func commandsOf(name string, s sheet) []command {
	text, there := s.texts[name]
	if !there || len(text) > maxSettings {
		return nil
	}
	base := path.Base(name)
	settings := s.files[name]
	switch {
	case base == "package.json":
		return ofScripts(name, settings)
	case strings.HasPrefix(base, ".lintstagedrc"):
		return ofStages(name, settings)
	case has(name, pipeline) && !strings.HasPrefix(base, "Jenkinsfile"):
		return ofPipeline(name, settings)
	case base == "tox.ini" || base == "setup.cfg" || base == "pyproject.toml" || base == "pytest.ini" || base == ".pytest.ini":
		return ofPython(name, settings)
	case base == ".pre-commit-config.yaml" || base == ".pre-commit-config.yml":
		return ofHooks(name, settings)
	case strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml"):
		return ofPipeline(name, settings)
	case strings.HasPrefix(strings.ToLower(base), "makefile") || base == "GNUmakefile" || strings.HasSuffix(base, ".mk") || strings.EqualFold(base, "justfile"):
		return ofMake(name, text)
	case strings.HasSuffix(base, ".py"), strings.HasPrefix(base, "Jenkinsfile"):
		return ofProgram(name, text)
	case len(rolesOf(name)) > 0 && slices.Equal(rolesOf(name), []role{scripted}):
		return shell(name, base, text, 1)
	default:
		return nil
	}
}

// ofStages are the commands of lint-staged.
func ofStages(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		all = append(all, shell(name, s.key, s.value, s.line)...)
	}
	return all
}

func ofScripts(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		script, is := strings.CutPrefix(s.key, "scripts.")
		if is && checking.MatchString(script) {
			all = append(all, shell(name, script, strings.ReplaceAll(s.value, `\"`, `"`), s.line)...)
		}
		if strings.HasPrefix(s.key, "lint-staged.") || strings.HasPrefix(s.key, "husky.hooks.") {
			all = append(all, shell(name, s.key, s.value, s.line)...)
		}
	}
	return all
}

var commandKey = pattern.Of(`(^|\.)(run|script|before_script|after_script|command|commands?|cmds?|test|bash|sh|pwsh)(\[\w*\])?(\.command)?$|cmds\[[^\]]*\](\.cmd)?$|\.cmd$`)

func ofPipeline(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		place, _, _ := strings.Cut(strings.TrimPrefix(s.key, "jobs."), ".")
		switch {
		case commandKey.MatchString(s.key):
			all = append(all, shell(name, place, s.value, s.line)...)
		case strings.HasSuffix(s.key, ".uses"):
			action, _, _ := strings.Cut(path.Base(s.value), "@")
			action = strings.TrimSuffix(action, "-action")
			if class, known := tools[action]; known {
				all = append(all, command{file: name, place: place, tool: action, class: class, line: s.line, text: s.value})
			}
		}
	}
	return all
}

func ofPython(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		switch {
		case strings.HasSuffix(s.key, "addopts") || strings.HasSuffix(s.key, "addopts[]"):
			all = append(all, command{file: name, place: "addopts" + s.key, tool: "pytest", class: testing, args: strings.Fields(s.value), line: s.line, text: s.value})
		case strings.Contains(s.key, "commands") || strings.Contains(s.key, "scripts.") || strings.Contains(s.key, "tasks."):
			all = append(all, shell(name, s.key, s.value, s.line)...)
		}
	}
	return merge(all)
}

// merge makes one of the options that stand in a list.
func merge(all []command) []command {
	var out []command
	for _, c := range all {
		if n := len(out); n > 0 && strings.HasPrefix(c.place, "addopts") && out[n-1].place == c.place {
			out[n-1].args = append(out[n-1].args, c.args...)
			continue
		}
		out = append(out, c)
	}
	return out
}

// ofHooks are the hooks of pre-commit.
func ofHooks(name string, settings []setting) []command {
	var all []command
	for _, s := range settings {
		if strings.HasSuffix(s.key, ".id") && strings.Contains(s.key, "hooks[") {
			all = append(all, command{file: name, place: "hooks", tool: "hook " + s.value, class: linting, line: s.line, text: s.value})
		}
	}
	return all
}

var calledText = pattern.Of(`(?s)(?:run|sh|system|check_call|check_output|Popen|call)\w*\s*\(?\s*(.{1,400}?)(?:\)|\n)`)

// ofProgram finds commands in a program: noxfile, tasks, Jenkinsfile.
func ofProgram(name, text string) []command {
	var all []command
	for _, m := range calledText.FindAllStringSubmatchIndex(text, 500) {
		inner := strings.NewReplacer(`"`, " ", `'`, " ", ",", " ", "[", " ", "]", " ").Replace(text[m[2]:m[3]])
		line := 1 + strings.Count(text[:m[0]], "\n")
		all = append(all, shell(name, path.Base(name), strings.TrimSpace(inner), line)...)
	}
	return all
}
