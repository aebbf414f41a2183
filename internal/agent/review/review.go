// Package review reads another agent's opinion of a change: criterion by criterion, each with the line that shows it.
// It ignores objections that no line of the change supports, and runs nothing.
package review

import (
	"encoding/json"
	"errors"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/clean"
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
var ErrNone = errors.New("its answer does not have the requested form")

// Read finds the opinion: the last fenced block that is one, or the whole answer.
func Read(answer string, criteria int) ([]Point, error) {
	for _, text := range candidates(answer) {
		var opinion struct {
			Points []Point `json:"points"`
		}
		if err := json.Unmarshal([]byte(text), &opinion); err != nil || opinion.Points == nil {
			continue
		}
		return usable(opinion.Points, criteria), nil
	}
	return nil, ErrNone
}

// candidates are possible opinions, the likeliest first. A fence begins a line.
func candidates(answer string) []string {
	parts := []string{""}
	for line := range strings.Lines(answer) {
		if strings.HasPrefix(strings.TrimSpace(line), fence) {
			parts = append(parts, "")
			continue
		}
		parts[len(parts)-1] += line
	}
	var all []string
	for i := len(parts) - 2; i > 0; i-- {
		all = append(all, parts[i])
	}
	return append(all, answer)
}

// usable returns the points about criteria that exist, with short texts.
func usable(points []Point, criteria int) []Point {
	var kept []Point
	for _, p := range points {
		if len(kept) == maxPoints {
			break
		}
		if p.Criterion < 1 || p.Criterion > criteria {
			continue
		}
		p.File = path.Clean(short(p.File))
		p.Why = short(p.Why)
		p.Quote = short(p.Quote)
		kept = append(kept, p)
	}
	return kept
}

func short(text string) string {
	return clean.Truncate(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), maxText)
}

// near is the distance in lines at which a quote still counts: agents count lines badly.
const near = 5

// Stands reports whether the quote is in the file, as it is or with a diff's signs.
func (p Point) Stands(file []byte) bool {
	if p.Line < 1 {
		return false
	}
	lines := strings.Split(string(file), "\n")
	bare := strings.ReplaceAll(strings.TrimPrefix(p.Quote, "+"), "\n+", "\n")
	return within(lines, p.Line, p.Quote) || within(lines, p.Line, bare)
}

func within(lines []string, line int, quote string) bool {
	want := squeezed(quote)
	if want == "" {
		return false
	}
	height := strings.Count(quote, "\n") + 1
	for n := max(line-near, 1); n <= min(line+near, len(lines)); n++ {
		passage := lines[n-1 : min(n-1+height, len(lines))]
		if strings.Contains(squeezed(strings.Join(passage, "\n")), want) {
			return true
		}
	}
	return false
}

// squeezed is text without white space, which quotes rarely reproduce.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
