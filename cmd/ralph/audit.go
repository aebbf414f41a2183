package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
)

// audit writes a journal as lines that can be told apart from those of others:
// each is that of the journal, and begins with the run that it is of.
func audit(to io.Writer, text []byte) error {
	entries, sound, err := journal.Replay(text)
	if err != nil {
		return err
	}
	id, err := json.Marshal(journal.Fold(journal.Run{}, entries...).ID)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	run := slices.Concat([]byte(`"run":`), id, []byte(","))
	named := 1 // in the first line of a journal itself: many readers take no name twice
	for line := range bytes.Lines(text[:sound]) {
		out.WriteByte('{')
		out.Write(run)
		out.Write(bytes.Replace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("{")), run, nil, named))
		out.WriteByte('\n')
		named = 0
	}
	_, err = to.Write(out.Bytes())
	return err
}
