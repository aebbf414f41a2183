package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Object is an object as git cat-file prints it.
type Object struct {
	ID, Kind string
	Size     int64
	Content  io.Reader
}

// errStopped ends a git of which no more is wanted.
var errStopped = errors.New("no more is wanted")

// CatFile has git print objects by their names, and each of them read in turn.
// What is left of one is passed over.
func CatFile(ctx context.Context, do Runner, c Call, ids []string, each func(Object) error) error {
	if len(ids) == 0 {
		return nil
	}
	answers, printed := io.Pipe()
	c.Args, c.Stdin, c.Stdout = []string{"cat-file", "--buffer", "--batch"}, strings.NewReader(strings.Join(ids, "\n")+"\n"), printed
	ended := make(chan error, 1)
	go func() {
		_, err := do(ctx, c)
		_ = printed.CloseWithError(err)
		ended <- err
	}()
	err := readObjects(bufio.NewReader(answers), ids, each)
	_ = answers.CloseWithError(errStopped)
	if failed := <-ended; err == nil && failed != nil {
		return failed
	}
	return err
}

func readObjects(from *bufio.Reader, ids []string, each func(Object) error) error {
	for _, id := range ids {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		o, err := readHeader(id, line)
		if err != nil {
			return err
		}
		content := &io.LimitedReader{R: from, N: o.Size}
		o.Content = content
		if err := each(o); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, from, content.N+1); err != nil { // with the newline behind it
			return err
		}
	}
	return nil
}

// readHeader reads what git says of an object: its name, its kind and its size, or that it is missing.
func readHeader(id, line string) (Object, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return Object{}, fmt.Errorf("%w: %s", errMissing, OneLine(line, 64))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || fields[0] != id || size < 0 {
		return Object{}, errOddAnswer
	}
	return Object{ID: id, Kind: fields[1], Size: size}, nil
}

// errMissing is the error for an object that is not there.
var errMissing = errors.New("an object is missing")

// Senseless tells of an answer that git itself would never give, or an object that
// is not there.
func Senseless(err error) bool {
	return errors.Is(err, errOddAnswer) || errors.Is(err, errNoID) || errors.Is(err, errMissing)
}

// Sizes asks for the size of each of some objects.
func Sizes(ctx context.Context, do Runner, ids []string) (map[string]int64, error) {
	out, err := do(ctx, Call{Args: []string{"cat-file", "--batch-check"}, Stdin: strings.NewReader(strings.Join(ids, "\n") + "\n"), Limit: 256 << 20})
	if err != nil {
		return nil, err
	}
	sizes, lines := map[string]int64{}, strings.SplitAfter(string(out), "\n")
	for i, id := range ids {
		o, err := readHeader(id, lines[min(i, len(lines)-1)])
		if err != nil {
			return nil, err
		}
		sizes[id] = o.Size
	}
	return sizes, nil
}
