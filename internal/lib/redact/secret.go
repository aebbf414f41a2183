package redact

import "fmt"

// Secret is a value that is never printed.
type Secret string

// Format hides the value from every verb of fmt.
func (Secret) Format(s fmt.State, _ rune) { fmt.Fprint(s, Mask) }

// MarshalText hides the value from every encoder.
func (Secret) MarshalText() ([]byte, error) { return []byte(Mask), nil }
