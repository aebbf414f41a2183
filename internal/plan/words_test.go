package plan_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/plan"
)

func TestNearest(t *testing.T) {
	known := []string{"id", "title", "passes", "notes", "dependsOn", "acceptanceCriteria", "userStories"}
	tests := []struct{ word, want string }{
		{"acceptenceCriteria", "acceptanceCriteria"},
		{"acceptance_criteria", "acceptanceCriteria"},
		{"depends_on", "dependsOn"},
		{"userStory", "userStories"},
		{"Title", "title"},
		{"tilte", "title"},
		{"note", "notes"},
		{"pass", "passes"},
		{"ID", "id"},
		{"is", ""},
		{"estimate", ""},
		{"status", ""},
		{"owner", ""},
		{"", ""},
		{strings.Repeat("x", 1<<20), ""},
	}
	for _, test := range tests {
		if got, ok := plan.Nearest(test.word, known); got != test.want || ok != (test.want != "") {
			t.Errorf("Nearest(%.20q) = %q, %t, want %q", test.word, got, ok, test.want)
		}
	}
}

func TestSlug(t *testing.T) {
	tests := []struct {
		title string
		limit int
		want  string
	}{
		{"Add a shopping cart", 40, "add-a-shopping-cart"},
		{"Add a shopping cart", 12, "add-a"},
		{"Don't crash: `parse(nil)`!", 40, "dont-crash-parse-nil"},
		{"Größe ändern, déjà vu", 40, "groesse-aendern-deja-vu"},
		{"Supercalifragilistic", 5, "super"},
		{"../../etc/passwd @{-1}.lock", 40, "etc-passwd-1-lock"},
		{"カートを追加", 40, "work"},
		{"", 40, "work"},
		{"", 2, "wo"},
		{"anything", 0, "w"},
	}
	for _, test := range tests {
		if got := plan.Slug(test.title, test.limit); got != test.want {
			t.Errorf("Slug(%q, %d) = %q, want %q", test.title, test.limit, got, test.want)
		}
	}
}
