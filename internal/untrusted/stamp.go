package untrusted

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// Version tells whether a plain file, or the number of its names, may have changed: by its stamp, or by its content,
// of which at most left bytes are read, where the file system misses changes. It is empty where that is not known.
func (e Entry) Version(left *int64) string {
	stamp := e.Stamp()
	if stamp != "" || !e.Info.Mode().IsRegular() {
		return stamp
	}
	if *left < e.Info.Size() {
		return ""
	}
	*left -= e.Info.Size()
	file, err := e.In.Open(e.Name)
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // only read
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(file, e.Info.Size()+1)); err != nil || n != e.Info.Size() {
		return ""
	}
	return fmt.Sprintf("%s %d %x", e.Info.Mode(), Names(e.Info), sum.Sum(nil))
}
