package nested

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/workspace"
)

// before is what was found before a command. A file keeps it until the search after the command has ended,
// so that what a killed ralph's agent left can be told from it. Commands at the same time share it.
type before struct {
	Folder  string
	Kept    map[string]bool   // then: an agent may have made more that seems to be the project's own
	Known   map[string]string // digests of the paths and of what they are
	Partial bool              // not all was found: no later search finds more
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (b *before) has(path string) bool {
	_, stood := b.Known[digest(path)]
	return stood
}

func (b *before) isSame(path string, now thing) bool {
	return b.Known[digest(path)] == now.digest() && !strings.Contains(now.version, unknown)
}

func (t thing) digest() string { return digest(t.folder + "\x00" + t.version) }

// begin searches before a command. First it moves aside what an earlier command left whose search
// did not end.
func (s *search) begin(ctx context.Context, marks string) (moved []string, err error) {
	only, kept := false, s.kept
	if marks != "" {
		var text []byte
		s.mark, text, only, err = workspace.OpenMark(filepath.Join(marks, digest(s.name())))
		s.stood = err == nil && gob.NewDecoder(bytes.NewReader(text)).Decode(&s.before) == nil
	}
	if s.stood {
		s.kept = s.before.Kept
	}
	if s.stood && only {
		var all bool
		moved, all, err = s.settle(ctx)
		s.stood = !all
	}
	if !s.stood {
		s.kept = kept
		now, failed := s.look(ctx, nil)
		s.before = before{s.name(), kept, map[string]string{}, errors.Is(failed, ErrNotAll)}
		for path, one := range now {
			s.before.Known[digest(path)] = one.digest()
		}
	}
	if only && ctx.Err() == nil {
		var text bytes.Buffer
		if failed := errors.Join(gob.NewEncoder(&text).Encode(s.before), s.mark.Write(text.Bytes()), s.mark.Share()); failed != nil {
			err = errors.Join(err, failed, s.mark.Close(true)) // otherwise others would wait for its text
			s.mark = nil
		}
	}
	return moved, err
}
