package driver

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
)

const maxTranscript = 256 << 20

const transcriptCut = "\n{\"type\":\"ralph\",\"text\":\"cut here: a transcript is kept up to 256 MiB\"}\n"

// transcript keeps what an agent prints. Losing it must not end the iteration, so it never fails while the agent works.
type transcript struct {
	name string
	to   io.WriteCloser // nil: nothing is kept
	hash hash.Hash
	left int64
	size int64
	err  error
}

// TranscriptName returns the name of a turn's transcript. What an agent printed before its model server turned it away
// is kept as well.
func TranscriptName(iteration, retries int) string {
	if retries > 0 {
		return fmt.Sprintf("transcript_%d_%d.ndjson", iteration, retries+1)
	}
	return fmt.Sprintf("transcript_%d.ndjson", iteration)
}

func openTranscript(open func(string) (io.WriteCloser, error), o agent.Order) (*transcript, error) {
	t := &transcript{name: TranscriptName(o.Iteration, o.Retries), hash: sha256.New(), left: maxTranscript}
	if open == nil {
		return t, nil
	}
	file, err := open(t.name)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	t.to = file
	return t, nil
}

// Write keeps p as far as there is room, and says where it was cut.
func (t *transcript) Write(p []byte) (int, error) {
	switch {
	case t.to == nil || t.left < 0:
	case int64(len(p)) > t.left:
		t.put(p[:t.left])
		t.put([]byte(transcriptCut))
		t.left = -1
	default:
		t.put(p)
		t.left -= int64(len(p))
	}
	return len(p), nil
}

func (t *transcript) put(p []byte) {
	if t.err != nil {
		return
	}
	n, err := t.to.Write(p)
	t.hash.Write(p[:n])
	t.size += int64(n)
	t.err = err
}

// close drops an incomplete transcript.
func (t *transcript) close() (journal.Attachment, error) {
	if t.to == nil {
		return journal.Attachment{}, nil
	}
	if err := cmp.Or(t.err, t.to.Close()); err != nil {
		return journal.Attachment{}, err
	}
	return journal.Attachment{Path: t.name, Digest: hex.EncodeToString(t.hash.Sum(nil)), Size: t.size}, nil
}
