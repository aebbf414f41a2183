package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	veil io.WriteCloser // before kept
	kept kept
}

// openTranscript makes one in a file that open gives; nil keeps nothing. What
// veil hides does not get that far.
func openTranscript(open func(string) (io.WriteCloser, error), veil func(io.Writer) io.WriteCloser, iteration int) (*transcript, error) {
	t := &transcript{name: fmt.Sprintf("transcript_%d.ndjson", iteration)}
	t.kept = kept{hash: sha256.New(), left: maxTranscript, cut: open == nil}
	t.veil = unveiled{&t.kept}
	if open == nil {
		return t, nil
	}
	to, err := open(t.name)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	t.kept.to = to
	if veil != nil {
		t.veil = veil(&t.kept)
	}
	return t, nil
}

// Write keeps p as far as there is room. What would not be kept is not looked
// at either.
func (t *transcript) Write(p []byte) (int, error) {
	if t.kept.cut {
		return len(p), nil
	}
	return t.veil.Write(p)
}

// close gives what was kept. A transcript that is not whole is not one.
func (t *transcript) close() (journal.Attachment, error) {
	if t.kept.to == nil {
		return journal.Attachment{}, nil
	}
	err := errors.Join(t.veil.Close(), t.kept.to.Close())
	if t.kept.err != nil {
		err = t.kept.err
	}
	if err != nil {
		return journal.Attachment{}, err
	}
	return journal.Attachment{Path: t.name, Digest: hex.EncodeToString(t.kept.hash.Sum(nil)), Size: t.kept.size}, nil
}

// unveiled is a veil that hides nothing.
type unveiled struct{ io.Writer }

func (unveiled) Close() error { return nil }

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
