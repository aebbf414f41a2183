package check

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// mostNames limits the names in the journal; a file beside the log has all.
const mostNames = 200

// tests returns nil if the output names no tests.
func (h Hand) tests(told tally.Tally, asked []string, name string) (*journal.Tests, error) {
	if len(told.Tests) == 0 && told.Passed+told.Failed+told.Skipped == 0 {
		return nil, nil //nolint:nilnil // no tests and no trouble
	}
	all, err := h.keep(name, told.String())
	if err != nil {
		return nil, err
	}
	red, broken := told.Names(tally.Failed), told.Names(tally.Broken)
	kept := &journal.Tests{
		Runner: strings.Join(told.Runners, ", "), Passed: told.Passed, Failed: told.Failed, Skipped: told.Skipped, Packages: told.Packages,
		Red: red[:min(len(red), mostNames)],
		Cut: told.Cut || len(red)+len(broken) > mostNames,
		All: all,
	}
	for _, name := range asked {
		if kept.Asked == nil {
			kept.Asked = map[string]tally.Outcome{}
		}
		kept.Asked[name] = told.Of(name)
	}
	kept.Broken = broken[:min(len(broken), mostNames-len(kept.Red))]
	if len(red)+len(broken) > 0 && !told.Cut {
		kept.Digest = digest(strings.Join(told.Names(tally.Failed, tally.Broken), "\n") + "\n")
	}
	return kept, nil
}

func (j Job) asked(check string) []string {
	if j.Ask == nil {
		return nil
	}
	names := j.Ask(check)
	return names[:min(len(names), mostNames)]
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
	return journal.Attachment{Path: path.Join(h.Folder, name), Digest: digest(kept.String()), Size: int64(kept.Len())}, nil
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
