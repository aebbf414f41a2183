package sandbox

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// spec is what the launcher is told: a Wall and the program to become. It goes
// through a file in memory, since argv and environment can be read by others.
type spec struct {
	Level                 Level
	Argv, Env             []string
	Dir                   string
	UID, GID              int
	Write, Read, ReadOnly []place
	Ports                 []int
	Flat                  bool
	PIDs                  bool // in a process namespace, whose first process we are
	Files                 int  // descriptors from 3 on that belong to the program
	Parent                int  // who started the launcher: it must still be there
	Off                   []mechanism
	ABI                   int
}

func (s *spec) has(m mechanism) bool { return !slices.Contains(s.Off, m) }
func (s *spec) off(m mechanism) bool { return !s.has(m) }

// memory is the spec as a file that is nowhere on disk.
func (s *spec) memory() (*os.File, error) {
	var text bytes.Buffer // as gob: an argument need not be UTF-8, which JSON would mend
	if err := gob.NewEncoder(&text).Encode(s); err != nil {
		return nil, fmt.Errorf("write the launcher's orders: %w", err)
	}
	fd, err := unix.MemfdCreate("ralph", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make the launcher's orders: %w", err)
	}
	f := os.NewFile(uintptr(fd), "orders")
	if _, err := f.Write(text.Bytes()); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("write the launcher's orders: %w", err)
	}
	return f, nil
}

func readSpec(f *os.File) (*spec, error) {
	s := new(spec)
	// Its place in the file is shared with who wrote it.
	if err := gob.NewDecoder(io.NewSectionReader(f, 0, 64<<20)).Decode(s); err != nil {
		return nil, fmt.Errorf("read the launcher's orders: %w", err)
	}
	return s, nil
}
