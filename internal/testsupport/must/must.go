// Package must ends a test whose set-up fails.
package must

import "testing"

// Do ends the test if there is an error.
func Do(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Get returns the value of a call that has to succeed: Get(f())(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		Do(tb, err)
		return v
	}
}
