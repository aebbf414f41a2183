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
		{"itle", "title"},
		{"xtitle", "title"},
		{"titl", "title"},
		{"tittle", "title"},
		{"ttile", "title"},
		{"itxle", ""},
		{"xttle", ""},
	}
	for _, test := range tests {
		if got, ok := plan.Nearest(test.word, known); got != test.want || ok != (test.want != "") {
			t.Errorf("Nearest(%.20q) = %q, %t, want %q", test.word, got, ok, test.want)
		}
	}
}

func TestNearestOfSeveral(t *testing.T) {
	long := strings.Repeat("y", 63)
	for _, test := range []struct {
		word  string
		known []string
		want  string
	}{
		{"note", []string{"notes", "note", "nota"}, "note"},
		{"noti", []string{"note", "nota"}, "note"},
		{"xac", []string{"abc"}, ""},
		{"bxc", []string{"abc"}, ""},
		{"bac", []string{"abc"}, "abc"},
		{long + "x", []string{long + "y"}, long + "y"},
		{long + "xx", []string{long + "yx"}, ""},
	} {
		if got, ok := plan.Nearest(test.word, test.known); got != test.want || ok != (test.want != "") {
			t.Errorf("Nearest(%q, %q) = %q, %t, want %q", test.word, test.known, got, ok, test.want)
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
		{"Add a shopping cart", 19, "add-a-shopping-cart"},
		{"Add a shopping cart", 18, "add-a-shopping"},
		{"Add a shopping cart", 12, "add-a"},
		{"Don't crash: `parse(nil)`!", 40, "dont-crash-parse-nil"},
		{"Größe ändern, déjà vu", 40, "groesse-aendern-deja-vu"},
		{"æ ø å à á â ã ç è é ê ë ì í î ï", 60, "ae-oe-aa-a-a-a-a-c-e-e-e-e-i-i-i-i"},
		{"ñ ò ó ô õ ù ú û ý ÿ a’b ü ß", 60, "n-o-o-o-o-u-u-u-y-y-ab-ue-ss"},
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
