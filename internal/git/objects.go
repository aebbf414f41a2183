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

// printedObject is an object as git cat-file prints it.
type printedObject struct {
	id, kind string
	size     int64
	content  io.Reader
}

// errStopped ends a git of which no more is wanted.
var errStopped = errors.New("no more is wanted")

// catFile has git print objects by their names, and each of them read in turn.
// What is left of one is passed over.
func catFile(ctx context.Context, do doing, c call, ids []string, each func(printedObject) error) error {
	if len(ids) == 0 {
		return nil
	}
	answers, printed := io.Pipe()
	c.args, c.stdin, c.stdout = []string{"cat-file", "--buffer", "--batch"}, strings.NewReader(strings.Join(ids, "\n")+"\n"), printed
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

func readObjects(from *bufio.Reader, ids []string, each func(printedObject) error) error {
	for _, id := range ids {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		o, err := readHeader(id, line)
		if err != nil {
			return err
		}
		content := &io.LimitedReader{R: from, N: o.size}
		o.content = content
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
func readHeader(id, line string) (printedObject, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return printedObject{}, fmt.Errorf("%w: %s", errMissing, tidy(line, 64))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || fields[0] != id || size < 0 {
		return printedObject{}, errOddAnswer
	}
	return printedObject{id: id, kind: fields[1], size: size}, nil
}

// errMissing is the error for an object that is not there.
var errMissing = errors.New("an object is missing")
