package nested

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// before is what was found before a command. A file keeps it until the search after the command has ended,
// so that what a killed ralph's agent left can be told from it. Commands at the same time share it.
type before struct {
	Folder string
	Top    string            // of the search
	Kept   map[string]bool   // then: an agent may have made more that seems to be the project's own
	Known  map[string]string // digests of the paths and of what they are
	End    string            // where the search ended early, or "": nothing is known of what comes after it
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

// isAfter reports whether the search before the command did not come to a path.
func (b *before) isAfter(path string) bool {
	return b != nil && b.End != "" && slices.Compare(strings.Split(path, "/"), strings.Split(b.End, "/")) >= 0
}

func (t thing) digest() string { return digest(t.folder + "\x00" + t.version) }

// begin searches before a command. First it moves aside what an earlier command left whose search
// did not end.
func (s *search) begin(ctx context.Context, marks string) (moved []string, err error) {
	only, kept := false, s.kept
	if marks != "" {
		early, failed := s.settleAbove(ctx, marks)
		defer func() { moved, err = append(early, moved...), errors.Join(failed, err) }()
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
		now, end, _ := s.look(ctx, nil)
		s.before = before{s.name(), s.top, kept, map[string]string{}, end}
		for path, one := range now {
			s.before.Known[digest(path)] = one.digest()
		}
	}
	if !only { // what this command writes to and only the other one guards is not restored after this one
		maps.DeleteFunc(s.kept, func(path string, _ bool) bool { return !kept[path] && process.Within(path, s.write) })
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

// settleAbove moves aside what other commands, in folders above, made or changed here since they began. What this
// command finds is to be its user's.
func (s *search) settleAbove(ctx context.Context, marks string) (moved []string, err error) {
	records, failed := recordsAbove(s.name(), marks)
	moved, err = settleBy(ctx, s.git, s.name(), records)
	err = errors.Join(failed, err)
	for i, name := range moved {
		moved[i], _ = filepath.Rel(s.top, name)
	}
	return moved, err
}

// Above returns the records of commands in folders above those.
func Above(folders []string, marks string) (records [][]byte, err error) {
	for _, folder := range folders {
		some, failed := recordsAbove(untrusted.Place(folder), marks)
		records, err = append(records, some...), errors.Join(err, failed)
	}
	return records, err
}

func recordsAbove(folder, marks string) (records [][]byte, err error) {
	for at := filepath.Dir(folder); ; at = filepath.Dir(at) {
		text, failed := workspace.ReadMark(filepath.Join(marks, digest(at)))
		if err = errors.Join(err, failed); text != nil {
			records = append(records, text)
		}
		if at == filepath.Dir(at) {
			return records, err
		}
	}
}

// SettleBy moves aside in those folders what differs from records of commands in folders above, as the search
// after such a command does.
func SettleBy(ctx context.Context, tool git.Git, folders []string, records [][]byte) (moved []string, err error) {
	for _, folder := range folders {
		names, failed := settleBy(ctx, tool, untrusted.Place(folder), records)
		moved, err = append(moved, names...), errors.Join(err, failed)
	}
	return moved, err
}

func settleBy(ctx context.Context, tool git.Git, folder string, records [][]byte) (moved []string, err error) {
	for _, text := range records {
		above := search{git: tool, links: new(untrusted.Patience)}
		if gob.NewDecoder(bytes.NewReader(text)).Decode(&above.before) != nil || above.before.End != "" || !within(above.before.Folder, folder) {
			continue
		}
		above.top, above.kept = above.before.Top, above.before.Kept
		above.start, _ = filepath.Rel(above.top, folder) // it lies there
		names, _, failed := above.settle(ctx)
		for _, name := range names {
			moved = append(moved, filepath.Join(above.top, name))
		}
		err = errors.Join(err, failed)
	}
	return moved, err
}
