package redact

import (
	"bytes"
	"io"
)

// reader passes on what its writer lets go of.
type reader struct {
	from io.Reader
	to   io.WriteCloser // writes to out, which cannot fail
	out  bytes.Buffer
	page []byte
	err  error
}

func (r *reader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 && r.err == nil {
		var n int
		n, r.err = r.from.Read(r.page)
		_, _ = r.to.Write(r.page[:n])
		if r.err != nil {
			_ = r.to.Close()
		}
	}
	if r.out.Len() == 0 {
		return 0, r.err
	}
	return r.out.Read(p)
}
