package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Sweep removes what sandboxed programs left in memory that the whole machine shares: files, and System V objects. With
// mounts of their own nothing is left. Without a user of their own their objects cannot be told apart, and nothing is
// removed. Two sandboxes at once with one user remove each other's.
func (w Config) Sweep() error {
	if w.sameUser() || w.Level == Namespace {
		return nil
	}
	errs := []error{w.sweepFiles()}
	for _, k := range systemV {
		errs = append(errs, k.sweep(w.UID))
	}
	return errors.Join(errs...)
}

func (w Config) sweepFiles() error {
	root, err := untrusted.OpenRoot(sharedMemory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("sweep %s: %w", sharedMemory, err)
	}
	if err := errors.Join(w.sweepIn(root, "."), root.Close()); err != nil {
		return fmt.Errorf("sweep %s: %w", sharedMemory, err)
	}
	return nil
}

// sweepIn looks where they could put something: in what everybody can write to.
func (w Config) sweepIn(root *untrusted.Root, dir string) error {
	list, err := root.ReadDir(dir)
	for _, entry := range list {
		name := path.Join(dir, entry.Name())
		info, missing := root.Lstat(name)
		switch {
		case missing != nil: // of somebody else, who is about
		case w.theirs(info):
			err = errors.Join(err, root.RemoveAll(name))
		case info.IsDir() && info.Mode().Perm()&0o002 != 0:
			err = errors.Join(err, w.sweepIn(root, name))
		}
	}
	return err
}

func (w Config) theirs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == w.UID
}

// kind is a kind of System V's shared things, with the call that removes one.
type kind struct {
	table, title string
	call         uintptr
	rest         [2]uintptr
}

var systemV = []kind{
	{"shm", "shmid", unix.SYS_SHMCTL, [2]uintptr{unix.IPC_RMID}},
	{"msg", "msqid", unix.SYS_MSGCTL, [2]uintptr{unix.IPC_RMID}},
	{"sem", "semid", unix.SYS_SEMCTL, [2]uintptr{0, unix.IPC_RMID}},
}

func (k kind) sweep(uid int) error {
	table, err := os.ReadFile("/proc/sysvipc/" + k.table)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a kernel without it
	}
	if err != nil {
		return fmt.Errorf("see what is left in memory: %w", err)
	}
	var errs []error
	err = as(uid, func() {
		for _, id := range ownedIDs(string(table), k.title, strconv.Itoa(uid)) {
			_, _, errno := unix.Syscall(k.call, uintptr(id), k.rest[0], k.rest[1])
			if errno != 0 && errno != unix.EINVAL && errno != unix.EIDRM { // somebody else was quicker
				errs = append(errs, fmt.Errorf("remove %s %d: %w", k.table, id, errno))
			}
		}
	})
	return errors.Join(append(errs, err)...)
}

// as runs do as another user: root in a container may not remove others' files.
func as(uid int, do func()) error {
	const same = ^uintptr(0)
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and with it this thread ends
		_, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, uintptr(uid), same)
		if errno != 0 {
			done <- fmt.Errorf("become user %d: %w", uid, errno)
			return
		}
		do()
		done <- nil
	}()
	return <-done
}

// ownedIDs reads a table of /proc/sysvipc: the numbers of those that the user owns or made.
func ownedIDs(table, title, uid string) []int {
	head, rows, _ := strings.Cut(table, "\n")
	titles := strings.Fields(head)
	number := slices.Index(titles, title)
	owner := slices.Index(titles, "uid")
	maker := slices.Index(titles, "cuid")
	if number < 0 || owner < 0 || maker < 0 {
		return nil
	}
	var ids []int
	for row := range strings.Lines(rows) {
		fields := strings.Fields(row)
		if len(fields) <= max(number, owner, maker) {
			continue
		}
		if fields[owner] != uid && fields[maker] != uid {
			continue
		}
		if id, err := strconv.Atoi(fields[number]); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
