package journal_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// TestEachReadsNoFurtherThanItHasTo gives lines while the rest is still to be read: a
// journal of gigabytes takes no more memory than its largest line.
func TestEachReadsNoFurtherThanItHasTo(t *testing.T) {
	var events []journal.Event
	for range 10_000 {
		events = append(events, journal.Noted{What: "one of many"})
	}
	text := lines(t, events...)
	from := bytes.NewReader(text)
	ahead, sum := 0, []byte(nil)
	sound, err := journal.Each(io.Reader(from), func(line []byte, _ journal.Entry) {
		sum = append(sum, line...)
		ahead = max(ahead, len(text)-from.Len()-len(sum))
	})
	if err != nil || sound != int64(len(text)) || !bytes.Equal(sum, text) {
		t.Errorf("%d bytes of %d are sound, the lines have %d (%v)", sound, len(text), len(sum), err)
	}
	if ahead > 64<<10 {
		t.Errorf("%d bytes were read ahead", ahead)
	}
}
