package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// readable is always there: programs and what libraries look up. Nothing here is secret.
func readable() []string {
	var found []string
	// Packages of Debian link to these, or need them.
	for _, folder := range []string{
		"/etc/python[0-9]*", "/etc/ssl/*", "/etc/pki/*", "/etc/pki/tls/*",
		"/etc/java-[0-9]*/*.*", "/etc/java-[0-9]*/security", "/etc/maven",
		"/etc/php/*/cli/conf.d", "/etc/php/*/mods-available",
	} {
		found = append(found, slices.DeleteFunc(glob(folder), hasKeys)...)
	}
	return append(found,
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
		"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm",
		"/etc/alternatives", "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/ca-certificates.conf",
		"/etc/crypto-policies", "/etc/debian_version", "/etc/default", "/etc/fonts", "/etc/gai.conf",
		"/etc/gitattributes", "/etc/gitconfig", "/etc/group", "/etc/host.conf", "/etc/hostname", "/etc/hosts",
		"/etc/inputrc", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
		"/etc/locale.alias", "/etc/localtime", "/etc/login.defs", "/etc/lsb-release", "/etc/machine-id",
		"/etc/magic", "/etc/mime.types", "/etc/mke2fs.conf", "/etc/nanorc", "/etc/networks", "/etc/npmrc",
		"/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/perl", "/etc/pip.conf", "/etc/profile",
		"/etc/profile.d", "/etc/protocols", "/etc/resolv.conf", "/etc/rpc", "/etc/services", "/etc/shells",
		"/etc/skel", "/etc/terminfo", "/etc/timezone", "/etc/vim", "/etc/wgetrc", "/etc/xattr.conf",
	)
}

// hasKeys reports a folder with keys, beside certificates or not.
func hasKeys(path string) bool {
	return slices.Contains([]string{"private", "CA", "entitlement", "consumer", "nssdb", "tls"}, filepath.Base(path))
}

// shared are the machine's folders, which stay readable around what is apart.
var shared = []string{"/usr", "/usr/lib", "/usr/local", "/usr/local/lib", "/usr/local/share", "/usr/share", "/opt"}

// runnerFolders are folders of jobs' runners, with keys and checkouts, by a file in them.
func runnerFolders() (found []string) {
	for _, pattern := range []string{"/opt/*/.runner", "/opt/*/*/.runner", "/usr/local/*/.runner"} {
		for _, file := range glob(pattern) {
			found = append(found, filepath.Dir(file))
		}
	}
	return found
}

func glob(pattern string) []string {
	list, _ := filepath.Glob(pattern) // it is well formed
	return list
}

// Fixed resolves all readable paths once, so that later links give no more access.
func (w Config) Fixed() Config {
	w.Apart = append(runnerFolders(), w.Apart...)
	all := w.readablePlaces(append(readable(), w.Read...), loginSettings)
	w.Read = nil
	w.fixed = nil
	for _, l := range all {
		holds := func(other place) bool {
			return other.Link == "" && other != l && process.Under(other.Path, l.Path)
		}
		if isByDescriptor(l.Path) || !slices.ContainsFunc(all, holds) {
			w.fixed = append(w.fixed, l)
		}
	}
	return w
}

func (w Config) readPlaces() []place {
	var elsewhere []place
	w.Read = slices.DeleteFunc(slices.Clone(w.Read), func(path string) bool {
		at := w.At[path]
		if at == "" || !w.mounts() {
			return false
		}
		if to, err := resolve(path, w.writable()); err == nil {
			elsewhere = append(elsewhere, place{From: to, Path: at})
		}
		return true
	})
	if w.fixed == nil {
		w = Config{Write: w.Write, Apart: w.Apart, Theirs: w.Theirs, Read: w.Read, off: w.off}.Fixed()
	}
	// What is named for one command is no folder of tools.
	return slices.Concat(w.fixed, elsewhere, w.readablePlaces(w.Read, func([]string) []string { return nil }))
}

// readablePlaces leaves out paths that are missing, or reached only by a link of theirs.
func (w Config) readablePlaces(paths []string, secrets func(folders []string) []string) []place {
	if len(paths) == 0 {
		return nil
	}
	var all []place
	var roots []string
	theirs := w.writable()
	for _, path := range paths {
		to, err := resolve(path, theirs)
		if err != nil {
			continue
		}
		if to == path && slices.Contains(roots, to) {
			continue
		}
		roots = append(roots, to)
		if clean := filepath.Clean(path); to != clean {
			all = append(all, place{Path: clean, Link: to})
		}
	}
	secret := secrets(roots)
	for _, path := range roots {
		all = append(all, w.readableParts(path, secret)...)
	}
	return all
}

// readableParts returns the readable parts of a folder, without secrets.
func (w Config) readableParts(path string, secret []string) []place {
	whole := []place{{Path: path}}
	if !w.has(parting) {
		return whole
	}
	isWithin := func(other string) bool { return process.Under(path, other) }
	holdsApart := slices.ContainsFunc(w.Apart, isWithin)
	holdsSecret := slices.ContainsFunc(secret, isWithin)
	if !holdsApart && !holdsSecret {
		return whole
	}
	if slices.Contains(secret, path) {
		return nil
	}
	if holdsApart && !slices.Contains(shared, path) {
		return nil
	}
	var all []place
	entries, _ := os.ReadDir(path) // what cannot be read gives nothing
	for _, entry := range entries {
		below := filepath.Join(path, entry.Name())
		if to, err := os.Readlink(below); err == nil {
			all = append(all, place{Path: below, Link: to})
			continue
		}
		all = append(all, w.readableParts(below, secret)...)
	}
	return all
}

// writable returns the folders that those inside write to, now or at other times.
func (w Config) writable() []string {
	if !w.has(crossing) {
		return nil
	}
	var all []string
	for _, dir := range slices.Concat(w.Write, w.Theirs) {
		if place, err := filepath.EvalSymlinks(dir); err == nil {
			all = append(all, place)
		}
	}
	return all
}

// resolve follows no link in a folder of theirs.
func resolve(path string, theirs []string) (string, error) {
	if isByDescriptor(path) {
		return path, nil
	}
	return untrusted.Resolve(path, func(link string) bool {
		return slices.ContainsFunc(theirs, func(dir string) bool { return process.Under(dir, filepath.Dir(link)) })
	})
}

func isByDescriptor(path string) bool { return strings.HasPrefix(path, "/proc/self/fd/") }

// writePlaces returns the places that can be written to: each must be there.
func (w Config) writePlaces() ([]place, error) {
	var all []place
	theirs := w.writable()
	for _, path := range w.Write {
		to, err := resolve(path, theirs)
		if err != nil {
			return nil, fmt.Errorf("folder to write to: %s: %w", path, err)
		}
		if at := w.At[path]; at != "" && w.mounts() {
			all = append(all, place{From: to, Path: at})
			continue
		}
		all = append(all, place{Path: to})
		if clean := filepath.Clean(path); to != clean {
			all = append(all, place{Path: clean, Link: to})
		}
	}
	return all, nil
}

// openPlace is a place that is held by a descriptor, no matter what its path names later.
type openPlace struct {
	place

	file   *os.File
	folder bool
}

var errMoved = errors.New("it leads elsewhere than when the sandbox was made")

// open holds a place, unless its path leads elsewhere by now. A link is made anew.
func (l place) open() (openPlace, error) {
	if l.Link != "" {
		return openPlace{place: l}, nil
	}
	flags := unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW
	if isByDescriptor(l.Path) {
		flags &^= unix.O_NOFOLLOW
	}
	from := cmp.Or(l.From, l.Path)
	fd, err := unix.Open(from, flags, 0)
	if err != nil {
		return openPlace{}, &fs.PathError{Op: "open", Path: from, Err: err}
	}
	f := openPlace{place: l, file: os.NewFile(uintptr(fd), from)}
	info, err := f.file.Stat()
	if err != nil {
		return f, err
	}
	f.folder = info.IsDir()
	current, err := os.Readlink(f.path())
	isMoved := current != from && !isByDescriptor(l.Path)
	if err != nil || isMoved {
		return f, errors.Join(&fs.PathError{Op: "open", Path: from, Err: errMoved}, err)
	}
	return f, nil
}

// path returns a path that leads there and nowhere else, for this process.
func (f openPlace) path() string { return pathOf(int(f.file.Fd())) }

func pathOf(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
