package git_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// bombMemory is what a git has that reads a bomb. With less than it needs, the refusal would name another reason.
const bombMemory = 100 << 20

// The kinds of object in a pack.
const (
	packCommit = 1
	packTree   = 2
	packBlob   = 3
	packDelta  = 7 // against an object by its name
)

// A pack of a few kilobytes that would expand to gigabytes is refused early: no
// git that reads it needs 100 MB.
func TestTakeRefusesBombs(t *testing.T) {
	for name, c := range map[string]struct {
		make func(l *lab)
		why  string
	}{
		"a file of 150 MB":    {func(l *lab) { l.send(packed{packBlob, "", 150 << 20, nil}) }, "larger than"},
		"a folder of 150 MB":  {func(l *lab) { l.send(packed{packTree, "", 150 << 20, nil}) }, "larger than"},
		"a message of 150 MB": {func(l *lab) { l.send(packed{packCommit, "", 150 << 20, nil}) }, "larger than"},
		"a file that says it is without end": {func(l *lab) {
			l.send(packed{packBlob, "", 1 << 50, []byte("x")})
		}, "are corrupt"},
		"changes of changes of a file": {func(l *lab) {
			base := packed{packBlob, "", 1 << 16, nil}
			all, size, id := []packed{base}, 1<<16, base.id()
			for size < 1<<27 {
				all = append(all, packed{packDelta, id, 0, doubling(size, 2*size)})
				size *= 2
				id = packed{packBlob, "", int64(size), nil}.id()
			}
			l.send(all...)
		}, "larger than"},
		"folders without end": {func(l *lab) { deep(l, "100644", plant(l, "blob", "x"), 10, 10) }, "too much to inspect"},
		"more commits than anyone reads": {func(l *lab) {
			tree, parent := l.in("rev-parse", l.base+"^{tree}"), l.base
			var all []packed
			for i := range 3000 {
				c := packed{kind: packCommit, text: fmt.Appendf(nil, "tree %s\nparent %s\nauthor A <a@b> %d +0000\ncommitter A <a@b> 1 +0000\n\nx", tree, parent, i)}
				all, parent = append(all, c), c.id()
			}
			l.send(all...)
		}, "more than 200 commits"},
	} {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.make(l)
			limited := l.git
			limited.Run = func(ctx context.Context, command process.Command) (process.Result, error) {
				command.Memory = bombMemory
				return l.seen.run(ctx, command)
			}
			trusted := must.Get(limited.Open(l.trusted.Dir))(t)
			got, err := handover.Take(t.Context(), trusted, l.tree, nil, l.terms())
			if err != nil || len(got.Refused) == 0 || !strings.Contains(got.Refused[0].Why, c.why) || got.To != got.From {
				t.Errorf("Take = %+v, %v, want it refused for %q", got, err, c.why)
			}
		})
	}
}

// packed is an object of a pack: a text, or a number of zeros.
type packed struct {
	kind int
	base string // of a delta
	size int64
	text []byte
}

func (p packed) content() io.Reader {
	if p.text != nil {
		return bytes.NewReader(p.text)
	}
	return io.LimitReader(zeros{}, p.size)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (p packed) length() int64 { return max(p.size, int64(len(p.text))) }

func (p packed) id() string {
	sum := sha1.New()
	fmt.Fprintf(sum, "%s %d\x00", []string{"", "commit", "tree", "blob"}[p.kind], p.length())
	_, _ = io.Copy(sum, p.content())
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// send makes the agent's git hand over these objects, with a commit of the last
// one unless it is a commit itself.
func (l *lab) send(all ...packed) {
	l.Helper()
	last := all[len(all)-1]
	tip := ""
	if last.kind == packCommit && last.text != nil {
		tip = last.id()
	} else {
		tree := packed{kind: packTree, text: append([]byte("100644 big\x00"), unhex(outcome(last))...)}
		commit := packed{kind: packCommit, text: fmt.Appendf(nil, "tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx", tree.id(), l.base)}
		all, tip = append(all, tree, commit), commit.id()
	}
	pack := packOf(all)
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		switch c.Argv[1] {
		case "rev-parse":
			_, err := io.WriteString(c.Stdout, tip+"\n")
			return process.Result{}, err
		case "pack-objects":
			_, err := c.Stdout.Write(pack)
			return process.Result{}, err
		default:
			return l.seen.run(ctx, c)
		}
	}
}

// outcome returns the id of the last object.
func outcome(p packed) string {
	if p.kind != packDelta {
		return p.id()
	}
	_, n := binary.Uvarint(p.text)
	size, _ := binary.Uvarint(p.text[n:])
	return packed{kind: packBlob, size: int64(size)}.id()
}

// packOf returns a pack file with these objects.
func packOf(all []packed) []byte {
	var out bytes.Buffer
	out.WriteString("PACK")
	_ = binary.Write(&out, binary.BigEndian, []uint32{2, uint32(len(all))})
	z, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	for _, p := range all {
		out.Write(header(p.kind, p.length()))
		if p.kind == packDelta {
			out.Write(unhex(p.base))
		}
		z.Reset(&out)
		_, _ = io.Copy(z, p.content())
		_ = z.Close()
	}
	sum := sha1.Sum(out.Bytes())
	return append(out.Bytes(), sum[:]...)
}

// header returns the kind and length of an object: seven bits per byte, four in
// the first.
func header(kind int, size int64) []byte {
	head := []byte{byte(kind<<4) | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	return head
}

// doubling returns a delta that copies zeros to make more zeros.
func doubling(from, to int) []byte {
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), uint64(to))
	for left := to; left > 0; {
		n := min(left, from, 0xffff)
		delta = append(delta, 0x80|0x10|0x20, byte(n), byte(n>>8))
		left -= n
	}
	return delta
}

// deep returns a tree with width equal entries at each of many levels.
func deep(l *lab, mode, id string, width, levels int) {
	for range levels {
		var raw []byte
		for i := range width {
			raw = append(raw, fmt.Sprintf("%s %d\x00", mode, i)...)
			raw = append(raw, unhex(id)...)
		}
		id, mode = plant(l, "tree", string(raw)), "40000"
	}
	plant(l, "commit", strings.Replace(commitText(l), l.agent("rev-parse", "HEAD^{tree}"), id, 1))
}

// An agent can make git need endless memory, by its tree, or by a small pack that expands: each git that reads what an
// agent wrote has a limit.
func TestGitIsBounded(t *testing.T) {
	l := newLab(t)
	var asked []string
	bounded := l.git
	bounded.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		asked = append(asked, c.Argv[1])
		readsSizes := slices.Contains(c.Argv, "--batch-check") // and so the beginning of each object alone
		if (c.Memory == 0 || c.Memory > git.MaxMemory) && !readsSizes {
			t.Errorf("%q may take %d bytes", c.Argv, c.Memory)
		}
		return l.seen.run(ctx, c)
	}
	trusted := must.Get(bounded.Open(l.trusted.Dir))(t)
	l.tree.Run = bounded.Run
	sha := l.commit("x", map[string]string{"a": "2"})
	if got := must.Get(handover.Take(t.Context(), trusted, l.tree, nil, l.terms()))(t); got.To != sha {
		t.Errorf("Take = %+v", got)
	}
	span := git.Span{From: l.base, To: sha}
	_, look := l.tree.Look(t.Context())
	_, _, diff := trusted.Diff(t.Context(), span, 1<<10)
	_, search := trusted.FilesMatching(t.Context(), sha, "2")
	_, read := trusted.ReadFile(t.Context(), git.At{Commit: sha, Path: "a"}, 10)
	_, list := trusted.Files(t.Context(), sha)
	if err := errors.Join(look, diff, search, read, list); err != nil {
		t.Error(err)
	}
	for _, command := range []string{
		"status", "pack-objects", "index-pack", "rev-list", "diff-tree", "grep", "cat-file", "ls-tree", "log",
	} {
		if !slices.Contains(asked, command) {
			t.Errorf("git %s was not asked: %q", command, asked)
		}
	}
}

// git refuses a huge file before it takes memory for it: the kernel's limit can come too late.
func TestHugeFilesTakeNoMemory(t *testing.T) {
	l := newLab(t)
	must.Do(t, os.WriteFile(filepath.Join(l.tree.Dir, ".gitignore"), nil, 0o644))
	must.Do(t, os.Truncate(filepath.Join(l.tree.Dir, ".gitignore"), 3<<30))
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		c.Memory = 0
		return l.seen.run(ctx, c)
	}
	if _, err := l.tree.Inspect(t.Context()); err == nil || !strings.Contains(err.Error(), "over limit") {
		t.Errorf("the tree was read: %v", err)
	}
}
