package confine

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

const filterPrograms = `^filter\..+\.(clean|process|smudge)$`

// requireFilters has git inside, in the user's own tree, fail for files of a filter that does not run there: it would
// commit the plain text of what the filter encrypts outside. Git LFS has its settings inside, too.
func (r *folders) requireFilters(ctx context.Context, asked Options) error {
	projects := resolved(asked.Private)
	if !slices.ContainsFunc(resolved(asked.Reach), func(dir string) bool { return anyHolds(projects, dir) }) {
		return nil // ralph's git wrote the tree, and ran no filter
	}
	tool := git.Git{Run: asked.Exec, Path: asked.Path, Home: r.tmp(true)}
	call := git.Call{Dir: projects[0], Env: []string{"HOME=" + asked.Home, "GIT_CONFIG_GLOBAL=" + r.gitConfig("global")}, Limit: mostTrusted}
	all, own, hasLFS := filterSettings(ctx, asked, tool, call)
	names := slices.DeleteFunc(filtersIn(all), func(name string) bool { return name == "lfs" && hasLFS })
	isHidden := slices.ContainsFunc(r.git.named, func(set git.Setting) bool { return set.Key == attributes })
	files := map[string][]string{}
	if isHidden || len(names) > 0 {
		var err error
		if files, err = filteredFiles(ctx, tool, call); err != nil && isHidden { // else git finds the filters itself, or fails
			return err
		}
	}
	var lists strings.Builder
	for _, name := range names {
		instead, runs := filterInside("filter."+name, all, own)
		r.git.instead = append(r.git.instead, instead...)
		if !runs && len(files[name]) > 0 {
			r.git.notes = append(r.git.notes, journal.Noted{
				What: "git in the sandbox refuses to commit files of your filter " + name + ": it does not run there",
				Hint: "commit these files yourself, or set the filter in the repository",
			})
		}
	}
	for _, name := range append(names, "lfs") {
		for _, path := range files[name] {
			lists.WriteString("/" + anyForSpecial.Replace(path) + " filter=" + name + "\n")
		}
	}
	r.git.filters = filepath.Join(r.dir, "filters")
	r.read = append(r.read, r.git.filters)
	return untrusted.WriteFile(r.git.filters, []byte(lists.String()), 0o644)
}

// filterSettings returns the settings of filters as they count outside, those of the repository, and whether git inside
// has Git LFS.
func filterSettings(ctx context.Context, asked Options, tool git.Git, call git.Call) (all, own map[string]string, hasLFS bool) {
	all, own = map[string]string{}, map[string]string{}
	for _, set := range userSettings(ctx, asked, call.Dir, "system", "global")(filterPrograms) {
		all[set.Key] = set.Value
	}
	configs, _ := guarded.ConfigsAround(call.Dir)
	for _, config := range existing(configs) {
		call.Args = []string{"config", "--file", config, "--includes", "-z", "--get-regexp", filterPrograms}
		out, _ := tool.Do(ctx, call) // an error: it has no filter
		for _, entry := range entries(out) {
			set := git.SettingOf(entry)
			own[set.Key] = set.Value
		}
	}
	maps.Copy(all, own)
	hasLFS = slices.Contains(filtersIn(all), "lfs")
	for _, set := range userSettings(ctx, asked, call.Dir, "command")(filterPrograms) {
		all[set.Key] = set.Value
	}
	return all, own, hasLFS
}

// filterInside returns the settings by which git inside fails for files of a filter that does not run there, and whether
// it runs as outside: not where the environment, say, has another program for it than the repository.
func filterInside(filter string, all, own map[string]string) (set []git.Setting, runs bool) {
	clean, process := filter+".clean", filter+".process"
	set = []git.Setting{{Key: filter + ".required", Value: "true"}}
	if own[filter+".smudge"] == "" { // git would miss it, too
		set = append(set, git.Setting{Key: filter + ".smudge", Value: "cat"})
	}
	if runs = own[clean] == all[clean] && own[process] == all[process]; runs {
		return set, true
	}
	for _, key := range []string{clean, process} {
		if own[key] != "" {
			set = append(set, git.Setting{Key: key})
		}
	}
	return set, false
}

// filteredFiles returns the files of each filter.
func filteredFiles(ctx context.Context, tool git.Git, call git.Call) (map[string][]string, error) {
	call.Args = []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	paths, err := tool.Do(ctx, call)
	if err != nil {
		return nil, err
	}
	call.Args, call.Stdin = []string{"check-attr", "-z", "--stdin", "filter"}, bytes.NewReader(paths)
	out, err := tool.Do(ctx, call)
	files := map[string][]string{}
	for told := range slices.Chunk(strings.Split(string(out), "\x00"), 3) { // path, attribute and value
		name := told[len(told)-1]
		files[name] = append(files[name], told[0])
	}
	return files, err
}

// filtersIn returns the filters that change what git commits.
func filtersIn(settings map[string]string) (names []string) {
	for key, program := range settings {
		at := strings.LastIndexByte(key, '.')
		if name := strings.TrimPrefix(key[:at], "filter."); program != "" && key[at:] != ".smudge" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
