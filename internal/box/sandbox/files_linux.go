package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// devices hold no data. The filter refuses the ioctl that types into another terminal.
var (
	devices   = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}
	terminals = []string{"/dev/tty", "/dev/ptmx", "/dev/pts"}
)

const (
	sharedMemory = "/dev/shm"
	ownTemp      = "/tmp" // with mounts of its own
)

func smallDevices() error {
	if err := os.MkdirAll("/dev/pts", 0o755); err != nil {
		return err
	}
	const options = "newinstance,ptmxmode=0666,mode=0620"
	if err := unix.Mount("ralph", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, options); err != nil {
		return os.NewSyscallError("mount", err)
	}
	links := map[string]string{
		"ptmx":   "pts/ptmx",
		"fd":     "/proc/self/fd",
		"stdin":  "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2",
	}
	for name, to := range links {
		if err := os.Symlink(to, "/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

// restrictFiles hands whole folders to Landlock.
func (p *launch) restrictFiles() error {
	if p.off(files) {
		return nil
	}
	abi := landlockOf(p.ABI)
	if abi == 0 && (p.Level == External || p.mounts()) { // another sandbox or mounts hold them
		return nil
	}
	if abi == 0 {
		return errors.New("this kernel has no Landlock, or it is not switched on (lsm=landlock)")
	}
	if abi < truncation && p.Level == Notify && p.UID == 0 {
		return errors.New("before Linux 6.2 a program of your own user could empty your files")
	}
	known := presets(abi)
	cfg := landlock.Config{HandledAccessFS: known.HandledAccessFS}
	if p.has(scopes) {
		cfg.Scoped = known.Scoped
	}
	if p.Level == Notify && abi >= 4 && p.has(ports) {
		cfg.HandledAccessNet = ll.AccessNetConnectTCP
	}
	if err := cfg.Restrict(p.landlockRules(abi)...); err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	return nil
}

// landlockOf is this kernel's Landlock, or a pretended older one; 0 is none.
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

// presets asks for exactly what the kernel knows, so that a shortfall is an error.
func presets(abi int) landlock.Config {
	known := []landlock.Config{
		{},
		landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5,
		landlock.V6, landlock.V7, landlock.V8, landlock.V9,
	}
	return known[min(abi, len(known)-1)]
}

func (p *launch) landlockRules(abi int) []landlock.Rule {
	tty := landlock.RWFiles(terminals...).WithIoctlDev().IgnoreIfMissing()
	rules := []landlock.Rule{landlock.RWFiles(devices...).IgnoreIfMissing(), tty}
	rules = append(rules, landlock.RODirs("/dev/pts").IgnoreIfMissing())
	rules = append(rules, rulesOf(p.read, landlock.RODirs, landlock.ROFiles)...)
	writable := landlock.RWDirs
	if abi >= 2 { // else no rename from folder to folder
		writable = func(paths ...string) landlock.FSRule {
			return landlock.RWDirs(paths...).WithRefer().WithResolveUnix()
		}
	}
	if p.mounts() {
		rules = append(rules, writable(ownTemp))
	}
	if info, err := os.Stat(sharedMemory); err == nil && info.IsDir() {
		rules = append(rules, writable(sharedMemory))
	}
	for _, layer := range p.layers {
		rules = append(rules, writable(layer.path()))
	}
	return append(rules, rulesOf(p.write, writable, landlock.RWFiles)...)
}

func rulesOf(all []openPlace, folder, file func(...string) landlock.FSRule) (rules []landlock.Rule) {
	for _, f := range all {
		switch {
		case f.Link != "":
		case f.Path == procs: // it may be another by now
			rules = append(rules, folder(procs))
		case f.folder:
			rules = append(rules, folder(f.path()))
		default:
			rules = append(rules, file(f.path()))
		}
	}
	return rules
}
