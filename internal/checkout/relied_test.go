package checkout_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
)

// A part of a line that names data is found by the data's name, without a search for each name.
func TestNamesIn(t *testing.T) {
	for _, c := range []struct {
		part, name string
		want       bool
	}{
		{"prices.json", "prices.json", true},
		{"my-prices.json", "prices.json", false},
		{"data/*", "data/", true},
		{"/data/*", "data/", true},
		{`"data"`, "data/", true},
		{`"data/"`, "data/", true},
		{"data'", "data/", true},
		{`é"data"`, "data/", false},
		{` @data"`, "@data/", true},
		{`@data"`, "@data/", true},
		{`.data"`, ".data/", true},
		{`.data"`, "data/", false},
		{`old-data"`, "data/", false},
		{"\xa9data/%", "data/", true},
		{"a b`", "a b/", true},
		{"x*", "x*", true},
	} {
		if got := checkout.NamesIn(c.part); slices.Contains(got, c.name) != c.want {
			t.Errorf("NamesIn(%q) = %q, with %q: want %v", c.part, got, c.name, c.want)
		}
	}
}
