package plan_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

func TestSlug(t *testing.T) {
	tests := []struct {
		title string
		limit int
		want  string
	}{
		{"Add a shopping cart", 19, "add-a-shopping-cart"},
		{"Add a shopping cart", 18, "add-a-shopping"},
		{"Add a shopping cart", 12, "add-a"},
		{"Don't crash: `parse(nil)`!", 40, "dont-crash-parse-nil"},
		{"Größe ändern, déjà vu", 40, "groesse-aendern-deja-vu"},
		{"æ ø å à á â ã ç è é ê ë ì í î ï", 60, "ae-oe-aa-a-a-a-a-c-e-e-e-e-i-i-i-i"},
		{"Supercalifragilistic", 5, "super"},
		{"../../etc/passwd @{-1}.lock", 40, "etc-passwd-1-lock"},
		{"カートを追加", 40, "work"},
	}
	for _, test := range tests {
		if got := plan.Slug(test.title, test.limit); got != test.want {
			t.Errorf("Slug(%q, %d) = %q, want %q", test.title, test.limit, got, test.want)
		}
	}
}
