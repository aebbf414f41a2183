package confine

import (
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
	call := git.Call{Dir: projects[0], Env: []string{"HOME=" + asked.Home, "GIT_CONFIG_GLOBAL=" + r.gitConfig("global")}}
	all, own := map[string]string{}, map[string]string{}
	for _, set := range userSettings(ctx, asked, projects[0], "system", "global")(filterPrograms) {
		all[set.Key] = set.Value
	}
	configs, _ := guarded.ConfigsAround(projects[0])
	for _, config := range existing(configs) {
		call.Args = []string{"config", "--file", config, "--includes", "-z", "--get-regexp", filterPrograms}
		out, _ := tool.Do(ctx, call) // an error: it has no filter
		for _, entry := range entries(out) {
			set := git.SettingOf(entry)
			own[set.Key] = set.Value
		}
	}
	maps.Copy(all, own)
	var lists strings.Builder
	list := func(name string) (files []string) {
		call.Args = []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", ":(attr:filter=" + name + ")"}
		out, _ := tool.Do(ctx, call) // an error: git cannot read the index, outside as well
		files = entries(out)
		for _, path := range files {
			lists.WriteString("/" + anyForSpecial.Replace(path) + " filter=" + name + "\n")
		}
		return files
	}
	for _, name := range filtersIn(all) {
		filter := "filter." + name
		r.git.instead = append(r.git.instead, git.Setting{Key: filter + ".required", Value: "true"})
		if own[filter+".smudge"] == "" { // git would miss it, too
			r.git.instead = append(r.git.instead, git.Setting{Key: filter + ".smudge", Value: "cat"})
		}
		if files := list(name); own[filter+".clean"]+own[filter+".process"] == "" && len(files) > 0 {
			r.git.notes = append(r.git.notes, journal.Noted{
				What: "git in the sandbox refuses to commit files of your filter " + name + ": it does not run there",
				Hint: "commit these files yourself, or set the filter in the repository",
			})
		}
	}
	if slices.ContainsFunc(r.git.named, func(set git.Setting) bool { return set.Key == attributes }) {
		list("lfs")
	}
	r.git.filters = filepath.Join(r.dir, "filters")
	r.read = append(r.read, r.git.filters)
	return untrusted.WriteFile(r.git.filters, []byte(lists.String()), 0o644)
}

// filtersIn returns the filters that change what git commits.
func filtersIn(settings map[string]string) (names []string) {
	for key, program := range settings {
		at := strings.LastIndexByte(key, '.')
		if name := strings.TrimPrefix(key[:at], "filter."); program != "" && name != "lfs" && key[at:] != ".smudge" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
