package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/ralph-loop/ralph/internal/journal"
)

// maxTranscript is how much of one iteration is kept: far beyond any honest
// agent, and short of a full disk.
const maxTranscript = 256 << 20

const transcriptCut = "\n{\"type\":\"ralph\",\"text\":\"cut here: a transcript is kept up to 256 MiB\"}\n"

// transcript keeps what an agent prints, as it comes. It takes everything and
// never complains while the agent works: losing the record of an iteration
// must not end the iteration.
type transcript struct {
	name string
	to   io.WriteCloser // nil keeps nothing
	hash hash.Hash
	left int64
	cut  bool
	size int64
	err  error
}

func openTranscript(open func(string) (io.WriteCloser, error), iteration int) (*transcript, error) {
	t := &transcript{name: fmt.Sprintf("transcript_%d.ndjson", iteration), hash: sha256.New(), left: maxTranscript}
	if open == nil {
		return t, nil
	}
	to, err := open(t.name)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	t.to = to
	return t, nil
}

// Write keeps p as far as there is room, and says where it ended.
func (t *transcript) Write(p []byte) (int, error) {
	switch {
	case t.cut:
	case int64(len(p)) > t.left:
		t.put(p[:t.left])
		t.put([]byte(transcriptCut))
		t.cut = true
	default:
		t.put(p)
		t.left -= int64(len(p))
	}
	return len(p), nil
}

func (t *transcript) put(p []byte) {
	if t.to == nil || t.err != nil {
		return
	}
	n, err := t.to.Write(p)
	t.hash.Write(p[:n])
	t.size += int64(n)
	t.err = err
}

// close gives what was kept. A transcript that is not whole is not one.
func (t *transcript) close() (journal.Attachment, error) {
	if t.to == nil {
		return journal.Attachment{}, nil
	}
	err := t.to.Close()
	if t.err != nil {
		err = t.err
	}
	if err != nil {
		return journal.Attachment{}, err
	}
	return journal.Attachment{Path: t.name, Digest: hex.EncodeToString(t.hash.Sum(nil)), Size: t.size}, nil
}
