package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Why a file is not read, though it is there.
var (
	errNotPlain = errors.New("it is not a plain file")
	errTooLong  = errors.New("it is too large")
)

// ReadPlain reads a file of people's that is a plain one: a pipe would have the
// program wait for whoever writes to it, a device has no end.
func ReadPlain(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := upTo(file, 10*largest)
	if errors.Is(err, errTooLong) {
		err = fmt.Errorf("%s is larger than 10 MiB", name)
	}
	return data, err
}

// ReadIn reads a plain file of an agent's tree.
func ReadIn(tree, name string) ([]byte, error) {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil, fmt.Errorf("open the agent's tree: %w", err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	return regular(root, name)
}

// regular reads a plain file of an agent's.
func regular(root *os.Root, name string) ([]byte, error) {
	data, err := plain(root, name, largest)
	if errors.Is(err, errTooLong) {
		err = errors.New("it is larger than 1 MiB")
	}
	return data, err
}

// plain reads a plain file of at most most bytes; a pipe would hang the program,
// a link could lead to another file of the tree that was never meant.
func plain(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotPlain
	case info.Size() > most:
		return nil, errTooLong
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return upTo(file, most)
}

// upTo reads all of a file that may grow meanwhile.
func upTo(file io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = errTooLong
	}
	return data, err
}
