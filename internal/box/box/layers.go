package box

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// An ignored folder with more is not copied: a layer lies over it.
const (
	mostFiles = 1000
	mostBytes = 64 << 20
)

// fillIgnored fills in what git ignores.
func (b Box) fillIgnored(
	ctx context.Context, user, own folderOf, ignored []string, work func([]sandbox.Layer) bool,
) error {
	ignored = slices.DeleteFunc(slices.Clone(ignored), isOurs)
	isSmall := func(name string) bool { return !user.isLarge(ctx, name) }
	if err := b.makeLayers(own, slices.DeleteFunc(slices.Clone(ignored), isSmall)); err != nil {
		return err
	}
	layers := b.Layers()
	if len(layers) > 0 && !work(layers) {
		layers = nil
		if err := b.makeLayers(own, nil); err != nil {
			return err
		}
	}
	for _, name := range ignored {
		at := filepath.Join(b.User, name)
		if slices.ContainsFunc(layers, func(l sandbox.Layer) bool { return l.Path == at }) {
			continue
		}
		if _, err := fillPath(user, own, name); err != nil {
			return err
		}
	}
	return nil
}

// isLarge reports a folder, but none of another repository.
func (f folderOf) isLarge(ctx context.Context, listed string) bool {
	name := strings.TrimSuffix(listed, "/")
	if name == listed || !f.isFolder(name) || f.isRepository(name) {
		return false
	}
	files, size := 0, int64(0)
	err := f.Walk(ctx, name, func(e untrusted.Entry, err error) error {
		files++
		if err == nil {
			size += e.Info.Size()
		}
		if files > mostFiles || size > mostBytes {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && (files > mostFiles || size > mostBytes)
}

const layerNames = "names.json"

func (b Box) makeLayers(own folderOf, names []string) error {
	if err := untrusted.RemoveAll(b.Upper); err != nil {
		return err
	}
	if len(names) == 0 {
		return nil
	}
	for n, name := range names {
		if err := own.MkdirAll(name, 0o777); err != nil {
			return err
		}
		if err := sandbox.MakeUpper(b.upper(n)); err != nil {
			return err
		}
	}
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return untrusted.WriteFile(filepath.Join(b.Upper, layerNames), text, 0o600)
}

func (b Box) upper(n int) string { return filepath.Join(b.Upper, strconv.Itoa(n)) }

// Layers returns the layers over folders that the user still has.
func (b Box) Layers() (layers []sandbox.Layer) {
	for n, name := range b.layerNames() {
		dir := filepath.Join(b.User, name)
		if at, err := filepath.EvalSymlinks(dir); err == nil && at == dir {
			layers = append(layers, sandbox.Layer{Path: dir, Lower: []string{dir}, Upper: b.upper(n)})
		}
	}
	return layers
}

func (b Box) layerNames() (names []string) {
	text, err := untrusted.ReadFile(filepath.Join(b.Upper, layerNames), 1<<30)
	if err != nil || json.Unmarshal(text, &names) != nil {
		return nil // there are no layers
	}
	return names
}

// ChangedLayers returns the large ignored folders to which those inside have written more than caches, as in
// node_modules/.cache.
func (b Box) ChangedLayers() (names []string) {
	for n, name := range b.layerNames() {
		written, _ := untrusted.ReadDir(filepath.Join(b.upper(n), sandbox.Written))
		if slices.ContainsFunc(written, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
			names = append(names, name)
		}
	}
	return names
}
