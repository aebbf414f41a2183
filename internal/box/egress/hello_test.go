package egress_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// A client that does not speak TLS, or names another server than in its CONNECT, is refused. Letters that Unicode
// lowers to ASCII are not those of the host: a server would take such a name for an unknown one.
func TestHearSaysWhy(t *testing.T) {
	right := hello(t, "kind.example")
	const other, plain = "its TLS names another server", "what follows CONNECT is not TLS"
	for name, test := range map[string]struct {
		said []byte
		want string // empty: it is taken
	}{
		"as it should be":    {right, ""},
		"upper case":         {hello(t, "KIND.example"), ""},
		"nothing":            {nil, "it sent nothing"},
		"plain HTTP":         {[]byte("GET / HTTP/1.1\r\nHost: kind.example\r\n\r\n"), plain},
		"another server":     {hello(t, "attacker.example"), other},
		"a server below":     {hello(t, "sub.kind.example"), other},
		"a kelvin sign":      {hello(t, "\u212aind.example"), other},
		"a dotted I":         {hello(t, "k\u0130nd.example"), other},
		"no server":          {hello(t, ""), "its TLS names no server"},
		"an address":         {hello(t, "93.184.216.34"), "its TLS names no server"},
		"a server hello":     {append([]byte{22, 3, 3, 0, 4, 2, 0, 0, 0}, right...), plain},
		"an alert first":     {append([]byte{21, 3, 3, 0, 2, 1, 0}, right...), plain},
		"half of it":         {right[:len(right)/2], plain},
		"too long":           {append([]byte{22, 3, 1, 0xff, 0xff}, make([]byte, 1<<17)...), plain},
		"endless empty ones": {[]byte(strings.Repeat("\x16\x03\x01\x00\x00", 40000)), plain},
		"a hello of 16 MB":   {append([]byte{22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff}, make([]byte, 0x3ffc)...), plain},
	} {
		_, err := egress.Hear(t.Context(), bytes.NewReader(test.said), "kind.example")
		if (err == nil) != (test.want == "") || (err != nil && err.Error() != test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
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
