package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	main "github.com/ralph-loop/ralph/cmd/ralph"
)

// JSON hides nothing from who looks at it, and says the same to a program.
func TestJSONHidesNothing(t *testing.T) {
	const title = "pay \u202eeerf\u202c \u200bto all \U000e0041 \u0085 ü \U0001f600 <b>"
	var out strings.Builder
	if err := main.PrintJSON(&out, map[string]string{"title": title}); err != nil {
		t.Fatal(err)
	}
	const want = `pay \u202eeerf\u202c \u200bto all \udb40\udc41 \u0085 ü ` + "\U0001f600 <b>"
	if !strings.Contains(out.String(), want) {
		t.Errorf("printed %q, want %s", out.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back["title"] != title {
		t.Errorf("read back as %q (%v)", back["title"], err)
	}
}
