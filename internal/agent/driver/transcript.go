package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/ralph-loop/ralph/internal/agent"
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
	kept kept
}

// openTranscript makes one in a file that open gives; nil keeps nothing.
func openTranscript(open func(string) (io.WriteCloser, error), o agent.Order) (*transcript, error) {
	t := &transcript{name: fmt.Sprintf("transcript_%d.ndjson", o.Iteration)}
	if o.Again > 0 { // what it printed before it was turned away is kept as well
		t.name = fmt.Sprintf("transcript_%d_%d.ndjson", o.Iteration, o.Again+1)
	}
	t.kept = kept{hash: sha256.New(), left: maxTranscript, cut: open == nil}
	if open == nil {
		return t, nil
	}
	to, err := open(t.name)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	t.kept.to = to
	return t, nil
}

// Write keeps p as far as there is room.
func (t *transcript) Write(p []byte) (int, error) { return t.kept.Write(p) }

// close gives what was kept. A transcript that is not whole is not one.
func (t *transcript) close() (journal.Attachment, error) {
	if t.kept.to == nil {
		return journal.Attachment{}, nil
	}
	err := t.kept.to.Close()
	if t.kept.err != nil {
		err = t.kept.err
	}
	if err != nil {
		return journal.Attachment{}, err
	}
	return journal.Attachment{Path: t.name, Digest: hex.EncodeToString(t.kept.hash.Sum(nil)), Size: t.kept.size}, nil
}

// kept is what is written of a transcript, and its digest.
type kept struct {
	to   io.WriteCloser
	hash hash.Hash
	left int64
	cut  bool
	size int64
	err  error
}

// Write writes p as far as there is room, and says where it ended.
func (k *kept) Write(p []byte) (int, error) {
	switch {
	case k.cut:
	case int64(len(p)) > k.left:
		k.put(p[:k.left])
		k.put([]byte(transcriptCut))
		k.cut = true
	default:
		k.put(p)
		k.left -= int64(len(p))
	}
	return len(p), nil
}

func (k *kept) put(p []byte) {
	if k.err != nil {
		return
	}
	n, err := k.to.Write(p)
	k.hash.Write(p[:n])
	k.size += int64(n)
	k.err = err
}
