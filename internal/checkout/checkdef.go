package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/checkdef"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
)

// restore returns a commit with the base's version of protected files, of files that certainly
// define the checks, and of ralph's own files. The latter are not in paths, as no test
// reads them.
func (c *Clean) restore(ctx context.Context, run journal.Run, commit string) (stand string, paths []string, err error) {
	span := git.Span{From: run.Base, To: commit}
	if paths, err = handover.Guarded(ctx, c.Trusted, span, run.Policy.Protect); err != nil {
		return "", nil, err
	}
	changes, err := changedDefinitions(ctx, c.Trusted, run, span)
	if err != nil {
		return "", nil, err
	}
	overlay := git.Overlay{Onto: commit, From: run.Base, Texts: map[string][]byte{}}
	for _, name := range paths {
		delete(changes, name)
	}
	for name, change := range changes {
		switch {
		case !change.Sure:
			continue
		case change.Text != nil:
			overlay.Texts[name] = change.Text
		}
		paths = append(paths, name)
	}
	slices.Sort(paths)
	for _, name := range slices.Concat(paths, ownFiles(run)) {
		if _, merged := overlay.Texts[name]; !merged {
			overlay.Paths = append(overlay.Paths, name)
		}
	}
	if stand, err = c.Trusted.Overlay(ctx, overlay); stand == commit {
		stand = ""
	}
	return stand, paths, err
}

// stand returns a commit as its proof has it, with the files of a Standing.
func (c *Clean) stand(ctx context.Context, run journal.Run, commit string, s proof.Standing) (string, error) {
	stand, _, err := c.restore(ctx, run, commit)
	if err != nil {
		return "", err
	}
	return c.Trusted.Overlay(ctx, git.Overlay{Onto: cmp.Or(stand, commit), From: s.From, Paths: s.Paths, Texts: s.Texts})
}

// changedDefinitions returns the changes of files that define the checks.
func changedDefinitions(ctx context.Context, trusted *git.Trusted, run journal.Run, span git.Span) (map[string]checkdef.Change, error) {
	touched, err := trusted.ChangedPaths(ctx, span)
	if err != nil {
		return nil, err
	}
	listed, err := trusted.ListAll(ctx, span.From)
	if err != nil {
		return nil, err
	}
	links, err := handover.Links(ctx, trusted, listed)
	if err != nil {
		return nil, err
	}
	base, now := reader{ctx: ctx, trusted: trusted, commit: span.From}, reader{ctx: ctx, trusted: trusted, commit: span.To}
	named, behind := commands(run), targets(links, touched)
	named.Files = base.files()
	named.Touched = slices.Concat(touched, slices.Collect(maps.Keys(behind)))
	follow := func(file checkdef.Files) checkdef.Files {
		return func(name string) []byte { return file(cmp.Or(behind[name], name)) }
	}
	changes := checkdef.Changed(named, follow(base.file), follow(now.present))
	for alias, name := range behind {
		if change, defines := changes[alias]; defines {
			delete(changes, alias)
			changes[name] = change
		}
	}
	return changes, errors.Join(base.err, now.err, ctx.Err())
}

// targets returns the touched files that links of the base lead to, by the names that the links give them: a check may
// be a link, or lie in a folder that is one.
func targets(links []handover.Link, touched []string) map[string]string {
	behind := map[string]string{}
	for _, link := range links {
		for _, name := range touched {
			if rest, is := strings.CutPrefix(name+"/", link.To+"/"); is {
				behind[path.Join(link.At, rest)] = name
			}
		}
	}
	return behind
}

type definitions struct {
	of    string // the base and the commands
	files []string
}

// definitions returns the files that define a run's checks, also in folders that its change leaves alone. It keeps
// them: in a large repository the search takes seconds.
func (c *Clean) definitions(ctx context.Context, run journal.Run) ([]string, error) {
	named := commands(run)
	of := fmt.Sprintf("%s %q", run.Base, named)
	if c.known.of == of {
		return c.known.files, nil
	}
	base := reader{ctx: ctx, trusted: c.Trusted, commit: run.Base}
	named.Files = base.files()
	files := checkdef.Paths(named, base.file)
	if base.err == nil {
		c.known = definitions{of, files}
	}
	return files, base.err
}

// commands returns the commands that people or the base's own files named.
func commands(run journal.Run) checkdef.CommandSet {
	named := checkdef.CommandSet{Within: run.Policy.Subfolder}
	for _, check := range run.Policy.Checks {
		if !check.Added {
			named.Checks = append(named.Checks, check.Command)
		}
	}
	for _, command := range run.Policy.Setup {
		named.Setup = append(named.Setup, command.Command)
	}
	return named
}

// reader reads the files of a commit. Links and files that are too large count as missing. If
// git fails, err says so. Most names that are looked for are missing, so git is asked for all names at once.
type reader struct {
	ctx     context.Context //nolint:containedctx // lives as long as a call
	trusted *git.Trusted
	commit  string
	entries map[string]git.TreeEntry // by path; a folder has no mode
	err     error
}

func (r *reader) file(name string) []byte {
	text, _ := r.read(name)
	return text
}

// present is like file, but links and files that are too large are not missing: a tool finds them.
func (r *reader) present(name string) []byte {
	text, err := r.read(name)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return make([]byte, largestSurveyed)
	}
	return text
}

func (r *reader) read(name string) ([]byte, error) {
	text, err := r.readEntry(name)
	if failed := new(git.Error); errors.As(err, &failed) {
		r.err = errors.Join(r.err, err)
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, text...), nil // not nil for an empty file
}

func (r *reader) readEntry(name string) ([]byte, error) {
	if r.entries == nil {
		if err := r.list(); err != nil {
			return nil, err
		}
	}
	entry, found := r.entries[name]
	if !found {
		return nil, git.ErrNotFound
	}
	return r.trusted.ReadEntry(r.ctx, entry, largestSurveyed)
}

// each calls do with the text of each file. It reads 100 of them in one call of git: a change can touch any number.
func (r *reader) each(names []string, do func(name, text string)) error {
	if r.entries == nil {
		if err := r.list(); err != nil {
			return err
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		mode := r.entries[name].Mode
		return mode != git.ModeFile && mode != git.ModeProgram
	})
	for some := range slices.Chunk(names, 100) {
		var ids, texts []string
		for _, name := range some {
			ids = append(ids, r.entries[name].ID)
		}
		err := git.CatFile(r.ctx, r.trusted.Do, git.Call{Limit: 1 << 40}, ids, func(o git.Object) error {
			text, err := io.ReadAll(io.LimitReader(o.Content, largestSurveyed))
			if o.Size > largestSurveyed {
				text = nil
			}
			texts = append(texts, string(text))
			return err
		})
		if err != nil {
			return err
		}
		for i, name := range some {
			do(name, texts[i])
		}
	}
	return nil
}

// files returns the names of all files.
func (r *reader) files() (names []string) {
	if r.entries == nil {
		r.err = errors.Join(r.err, r.list())
	}
	for name, entry := range r.entries {
		if entry.Mode != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (r *reader) list() error {
	all, err := r.trusted.ListAll(r.ctx, r.commit)
	if err != nil {
		return err
	}
	r.entries = make(map[string]git.TreeEntry, len(all))
	for _, entry := range all {
		r.entries[entry.Path] = entry
		for folder := path.Dir(entry.Path); r.entries[folder].Path == ""; folder = path.Dir(folder) {
			r.entries[folder] = git.TreeEntry{Path: folder}
		}
	}
	return nil
}
