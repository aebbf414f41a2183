package check

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// mostNames limits the names in the journal; a file beside the log has all.
const mostNames = 200

// goTest takes what go test prints. The tests are known after Close.
type goTest struct {
	pipe  *io.PipeWriter
	ended chan struct{}
	found results.Results
	err   error
}

func newGoTest(text io.Writer) *goTest {
	from, to := io.Pipe()
	g := &goTest{pipe: to, ended: make(chan struct{})}
	go func() {
		defer close(g.ended)
		g.found, g.err = results.ReadGoTest(from, text)
		_ = from.CloseWithError(g.err) // it never fails
	}()
	return g
}

// Write passes on a part of the output.
func (g *goTest) Write(part []byte) (int, error) { return g.pipe.Write(part) }

// Close waits until all is read.
func (g *goTest) Close() error {
	err := g.pipe.Close()
	<-g.ended
	return errors.Join(g.err, err)
}

// tests returns nil if there are no results by name.
func (h Hand) tests(found results.Results, name string) (*journal.Tests, error) {
	if found.Len() == 0 {
		return nil, nil //nolint:nilnil // no tests and no error
	}
	all, err := h.keep(name, found.String())
	if err != nil {
		return nil, err
	}
	red, broken := found.Names(results.Failed), found.Names(results.Broken)
	kept := &journal.Tests{
		Passed:  len(found.Names(results.Passed)),
		Failed:  len(red),
		Skipped: len(found.Names(results.Skipped)),
		Red:     red[:min(len(red), mostNames)],
		Cut:     found.Cut || len(red)+len(broken) > mostNames,
		All:     all,
	}
	kept.Broken = broken[:min(len(broken), mostNames-len(kept.Red))]
	return kept, nil
}

func (h Hand) keep(name, text string) (journal.Attachment, error) {
	file, err := h.Log(name)
	if err != nil {
		return journal.Attachment{}, err
	}
	var kept strings.Builder
	hidden := h.Veil(io.MultiWriter(file, &kept))
	_, err = io.WriteString(hidden, text)
	if err := errors.Join(err, hidden.Close(), file.Close()); err != nil {
		return journal.Attachment{}, err
	}
	return journal.Attachment{
		Path:   path.Join(h.Folder, name),
		Digest: digest(kept.String()),
		Size:   int64(kept.Len()),
	}, nil
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
