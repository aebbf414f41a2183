package process

import (
	"bytes"
	"io"
	"sync"
)

// ahead reads on while what it read is not taken yet, up to mostAhead: a socket holds little, and some programs end without
// waiting for their output to be read.
type ahead struct {
	mu   sync.Mutex
	more sync.Cond // or less
	kept bytes.Buffer
	err  error
}

const mostAhead = 1 << 20

func readAhead(from io.Reader) *ahead {
	a := &ahead{}
	a.more.L = &a.mu
	go a.fill(from)
	return a
}

func (a *ahead) fill(from io.Reader) {
	for part := make([]byte, 64<<10); ; {
		n, err := from.Read(part)
		a.mu.Lock()
		a.kept.Write(part[:n])
		a.err = err
		a.more.Broadcast()
		for err == nil && a.kept.Len() > mostAhead {
			a.more.Wait()
		}
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.kept.Len() == 0 && a.err == nil {
		a.more.Wait()
	}
	n, _ := a.kept.Read(p)
	a.more.Broadcast()
	if n > 0 {
		return n, nil
	}
	return 0, a.err
}
