package main

import (
	"bytes"
	"encoding/json"
	"io"

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
	for line := range bytes.Lines(text[:sound]) {
		out.WriteString(`{"run":`)
		out.Write(id)
		out.WriteByte(',')
		out.Write(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("{")))
		out.WriteByte('\n')
	}
	_, err = to.Write(out.Bytes())
	return err
}
