package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// become changes to the user inside, and gives up whatever could be given.
func (p *launch) become() error {
	if err := p.dropBounding(); err != nil {
		return err
	}
	if err := p.changeUser(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("gain nothing by exec: %w", err)
	}
	if p.off(caps) {
		return nil
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// dropBounding needs a capability that an ordinary user lacks, who has nothing
// to drop either.
func (p *launch) dropBounding() error {
	if p.off(caps) {
		return nil
	}
	for c := uintptr(0); ; c++ {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EPERM):
			return nil
		case err != nil:
			return fmt.Errorf("drop capabilities for good: %w", err)
		}
	}
}

func (p *launch) changeUser() error {
	if p.UID == 0 || p.off(user) || os.Getuid() == p.UID {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return fmt.Errorf("leave all groups: %w", err)
	}
	if err := syscall.Setresgid(p.GID, p.GID, p.GID); err != nil {
		return fmt.Errorf("become group %d: %w", p.GID, err)
	}
	if err := syscall.Setresuid(p.UID, p.UID, p.UID); err != nil {
		return fmt.Errorf("become user %d: %w", p.UID, err)
	}
	return nil
}

// hide keeps those inside, who may be the same user, from reading us.
func (p *launch) hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide from other processes: %w", err)
	}
	return nil
}
