package egress_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

func TestHearSaysWhy(t *testing.T) {
	for want, said := range map[string][]byte{
		"it sent nothing":                 nil,
		"what follows CONNECT is not TLS": []byte("GET / HTTP/1.1\r\n\r\n"),
		"its TLS names no server":         hello(t, ""),
		"its TLS names another server":    hello(t, "attacker.example"),
	} {
		if _, err := egress.Hear(t.Context(), bytes.NewReader(said), "example.com"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Hear = %v, want %s", err, want)
		}
	}
}

// Letters that Unicode lowers to ASCII are not those of the host: a server would take such a name for an unknown one.
func TestHearTakesNoOtherLetters(t *testing.T) {
	for said, refused := range map[string]bool{"KIND.example": false, "kind.example": false, "\u212aind.example": true, "k\u0130nd.example": true} {
		if _, err := egress.Hear(t.Context(), bytes.NewReader(hello(t, said)), "kind.example"); (err != nil) != refused {
			t.Errorf("%+q: %v", said, err)
		}
	}
}

// FuzzHear checks that an accepted ClientHello names the right server, that its
// bytes are returned unchanged, and that it can arrive in any pieces.
func FuzzHear(f *testing.F) {
	right := hello(f, "example.com")
	f.Add(right)
	f.Add(hello(f, "attacker.example"))
	f.Add(hello(f, ""))
	f.Add(split(right, 9))
	f.Add(slices.Concat(right, right))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, sent []byte) {
		said, err := egress.Hear(t.Context(), bytes.NewReader(sent), "example.com")
		slow, errSlow := egress.Hear(t.Context(), iotest.OneByteReader(bytes.NewReader(sent)), "example.com")
		if (err == nil) != (errSlow == nil) {
			t.Fatalf("at once %v, in pieces %v", err, errSlow)
		}
		if err != nil {
			return
		}
		if !bytes.HasPrefix(sent, said) || !bytes.HasPrefix(said, slow) {
			t.Error("it is not passed on as it was sent")
		}
		if !bytes.Contains(bytes.ToLower(joined(sent)), []byte("example.com")) {
			t.Error("it names no such server")
		}
		if _, err := egress.Hear(t.Context(), bytes.NewReader(said), "example.org"); err == nil {
			t.Error("it is let through to another server as well")
		}
	})
}

// joined returns the content of TLS records, without their headers.
func joined(b []byte) []byte {
	var all []byte
	for len(b) >= 5 {
		n := min(int(b[3])<<8|int(b[4]), len(b)-5)
		all, b = append(all, b[5:5+n]...), b[5+n:]
	}
	return all
}
