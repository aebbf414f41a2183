package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// readable is there whatever a Wall says: what programs are made of and what
// their libraries look up. Nothing here is anybody's secret.
func readable() []string {
	var found []string
	for _, folder := range []string{"/etc/python[0-9]*", "/etc/ssl/*", "/etc/pki/*", "/etc/pki/tls/*"} {
		list, _ := filepath.Glob(folder) // the pattern is well formed
		found = append(found, slices.DeleteFunc(list, holdsKeys)...)
	}
	found = append(found, slices.DeleteFunc(slices.Clone(settings), reveals)...)
	return append(found,
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
		"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm",
		"/etc/alternatives", "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies",
		"/etc/debian_version", "/etc/default", "/etc/fonts", "/etc/gai.conf", "/etc/gitattributes", "/etc/group",
		"/etc/host.conf", "/etc/hostname", "/etc/hosts", "/etc/inputrc", "/etc/ld.so.cache", "/etc/ld.so.conf",
		"/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/locale.alias", "/etc/localtime", "/etc/login.defs", "/etc/lsb-release",
		"/etc/machine-id", "/etc/magic", "/etc/mime.types", "/etc/mke2fs.conf", "/etc/nanorc", "/etc/networks", "/etc/nsswitch.conf",
		"/etc/os-release", "/etc/passwd", "/etc/perl", "/etc/profile", "/etc/profile.d",
		"/etc/protocols", "/etc/resolv.conf", "/etc/rpc", "/etc/services", "/etc/shells",
		"/etc/skel", "/etc/terminfo", "/etc/timezone", "/etc/vim", "/etc/xattr.conf",
	)
}

// holdsKeys tells whether a folder has keys beside certificates, or instead of
// them; of tls what lies in it is looked at.
func holdsKeys(path string) bool {
	return slices.Contains([]string{"private", "CA", "entitlement", "consumer", "nssdb", "tls"}, filepath.Base(path))
}

// reveals takes what cannot be read for the worst.
func reveals(path string) bool {
	text, err := os.ReadFile(path)
	return err != nil || revealing.MatchString(string(text))
}

// devices are files that read and write no one's data. The terminals take
// ioctls; the filter keeps out the one that types for another.
var (
	devices   = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	terminals = []string{"/dev/tty", "/dev/ptmx", "/dev/pts"}
)

const (
	sharedMemory = "/dev/shm"
	ownTemp      = "/tmp" // with mounts of its own
)

// restrictFiles hands the rest to Landlock: whole folders may be opened, and
// nothing beside them.
func (p *launch) restrictFiles() error {
	if p.off(files) || p.Level == UID {
		return nil
	}
	abi := landlockOf(p.ABI)
	if p.without(abi) {
		return nil
	}
	known := presets(abi)
	cfg := landlock.Config{HandledAccessFS: known.HandledAccessFS}
	if p.has(scopes) {
		cfg.Scoped = known.Scoped
	}
	switch {
	case abi == 0:
		return errors.New("this kernel has no Landlock, or it is not switched on (lsm=landlock)")
	case p.off(ports):
	case p.Level == Landlock && abi < 4:
		return errors.New("this kernel's Landlock knows no TCP: it came with Linux 6.7")
	case p.Level == Landlock, p.Level == Notify && abi >= 4:
		cfg.HandledAccessNet = ll.AccessNetConnectTCP
	}
	rules, err := p.landlockRules(abi)
	if err != nil {
		return err
	}
	if err := cfg.Restrict(rules...); err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	return nil
}

// without tells that the wall stands without Landlock: mounts of its own hold
// the files, or somebody else's wall does.
func (p *launch) without(abi int) bool {
	return abi == 0 && (p.Level == External || p.Level == Namespace && !p.Flat)
}

// landlockOf is the Landlock of this kernel, or the older one that is pretended;
// 0 is none.
func landlockOf(pretended int) int {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case err != nil, pretended < 0:
		return 0
	case pretended > 0:
		return min(abi, pretended)
	}
	return abi
}

// presets asks for exactly what the kernel knows, so that a shortfall is an
// error and not a weaker wall.
func presets(abi int) landlock.Config {
	known := []landlock.Config{
		{}, landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7, landlock.V8, landlock.V9,
	}
	return known[min(abi, len(known)-1)]
}

func (p *launch) landlockRules(abi int) ([]landlock.Rule, error) {
	tty := landlock.RWFiles(terminals...).WithIoctlDev().IgnoreIfMissing()
	rules := []landlock.Rule{landlock.RWFiles(devices...).IgnoreIfMissing(), tty}
	rules = append(rules, landlock.RODirs("/dev/pts").IgnoreIfMissing())
	for _, path := range append(readable(), p.Read...) {
		if rule, ok := ruleOf(path, landlock.RODirs, landlock.ROFiles); ok {
			rules = append(rules, rule)
		}
	}
	writable := landlock.RWDirs
	if abi >= 2 { // else no rename from folder to folder
		writable = func(paths ...string) landlock.FSRule { return landlock.RWDirs(paths...).WithRefer().WithResolveUnix() }
	}
	if !p.Flat {
		rules = append(rules, writable(ownTemp))
	}
	if rule, ok := ruleOf(sharedMemory, writable, landlock.RWFiles); ok {
		rules = append(rules, rule)
	}
	for _, path := range p.Write {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("folder to write to: %s: not absolute", path)
		}
		rule, ok := ruleOf(path, writable, landlock.RWFiles)
		if !ok {
			return nil, fmt.Errorf("folder to write to: %s: %w", path, fs.ErrNotExist)
		}
		rules = append(rules, rule)
	}
	if p.Level == Landlock {
		for _, port := range p.Ports {
			rules = append(rules, landlock.ConnectTCP(uint16(port))) //nolint:gosec // a port
		}
	}
	return rules, nil
}

func ruleOf(path string, folder, file func(...string) landlock.FSRule) (landlock.FSRule, bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return landlock.FSRule{}, false
	case info.IsDir():
		return folder(path), true
	}
	return file(path), true
}
