// Package review reads another agent's opinion of a change: criterion by
// criterion, each with the line that shows it. It believes no word that is not
// borne out by a line of the change, and runs nothing.
package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

// Point is what was found of one criterion.
type Point struct {
	Criterion int    `json:"criterion"` // from 1
	Met       bool   `json:"met"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Quote     string `json:"quote"` // of that line
	Why       string `json:"why"`
}

const (
	maxPoints = 100
	maxText   = 400 // bytes of a word of theirs
	fence     = "```"
)

// ErrNone is an answer without an opinion.
var ErrNone = errors.New("it gave no opinion in the form that was asked for")

// Read finds the opinion in an answer: the last fenced block that is one, or
// the answer as a whole. Points on criteria that there are not are no points.
func Read(answer string, criteria int) ([]Point, error) {
	for _, text := range candidates(answer) {
		var told struct {
			Points []Point `json:"points"`
		}
		if err := json.Unmarshal([]byte(text), &told); err != nil || told.Points == nil {
			continue
		}
		return sorted(told.Points, criteria), nil
	}
	return nil, ErrNone
}

// candidates are the parts of an answer that may be an opinion, the likeliest
// first.
func candidates(answer string) []string {
	parts := strings.Split(answer, fence)
	var all []string
	for i := len(parts) - 2; i > 0; i-- {
		_, text, cut := strings.Cut(parts[i], "\n")
		if cut {
			all = append(all, text)
		}
	}
	return append(all, answer)
}

// sorted keeps what can be a point, short.
func sorted(points []Point, criteria int) []Point {
	var kept []Point
	for _, p := range points {
		if p.Criterion < 1 || p.Criterion > criteria || len(kept) == maxPoints {
			continue
		}
		p.File, p.Quote, p.Why = path.Clean(short(p.File)), short(p.Quote), short(p.Why)
		kept = append(kept, p)
	}
	return kept
}

func short(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	for i := range text {
		if i > maxText {
			return text[:i] + "…"
		}
	}
	return text
}

// near is how far a quote may be from the line that is named: they count badly.
const near = 5

// Stands tells whether what is quoted is in the file where it is said to be.
func (p Point) Stands(file []byte) bool {
	want := squeezed(p.Quote)
	if want == "" || p.Line < 1 {
		return false
	}
	lines := strings.Split(string(file), "\n")
	for n := max(p.Line-near, 1); n <= min(p.Line+near, len(lines)); n++ {
		if strings.Contains(squeezed(lines[n-1]), want) {
			return true
		}
	}
	return false
}

// squeezed is text without the spaces that nobody quotes alike.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// String is where it is and what is wrong with it.
func (p Point) String() string {
	return fmt.Sprintf("criterion %d: %s (%s:%d)", p.Criterion, p.Why, p.File, p.Line)
}
