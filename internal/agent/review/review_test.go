package review_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/review"
)

func TestRead(t *testing.T) {
	one := review.Point{Criterion: 1, File: "a.go", Line: 3, Quote: "return 1", Why: "it is always 1"}
	met := review.Point{Criterion: 2, Met: true, File: "a.go", Line: 9, Quote: "x"}
	object := `{"points":[{"criterion":1,"met":false,"file":"./a.go","line":3,"quote":" return 1 ","why":"it is always 1"}]}`
	for name, c := range map[string]struct {
		answer string
		want   []review.Point
		none   bool
	}{
		"bare":                      {answer: object, want: []review.Point{one}},
		"fenced":                    {answer: "I looked.\n```json\n" + object + "\n```\nThat is all.", want: []review.Point{one}},
		"code before and after":     {answer: "```go\nfunc f() {}\n```\n```json\n" + object + "\n```\n```go\nx\n```", want: []review.Point{one}},
		"met":                       {answer: `{"points":[{"criterion":2,"met":true,"file":"a.go","line":9,"quote":"x"}]}`, want: []review.Point{met}},
		"no such criterion":         {answer: `{"points":[{"criterion":3},{"criterion":0},{"criterion":-1}]}`},
		"words only":                {answer: "It is fine.", none: true},
		"a line that is no number":  {answer: `{"points":[{"criterion":1,"line":"three"}]}`, none: true},
		"a fence that never closes": {answer: "```json\n" + object, none: true},
		"a fence in the quote": {
			answer: "```json\n" + `{"points":[{"criterion":1,"file":"a.md","line":1,"quote":"` + "```json" + `","why":"no"}]}` + "\n```",
			want:   []review.Point{{Criterion: 1, File: "a.md", Line: 1, Quote: "```json", Why: "no"}},
		},
		"null": {answer: `{"points":null}`, none: true},
	} {
		got, err := review.Read(c.answer, 2)
		if c.none != errors.Is(err, review.ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is quoted has to be there, near the line that is named.
func TestStands(t *testing.T) {
	file := []byte(strings.Repeat("\n", 9) + "\tif  x == 1 { return }\n" + strings.Repeat("\n", 19) + "third\nother\n")
	for name, c := range map[string]struct {
		line  int
		quote string
		want  bool
	}{
		"to the letter":      {10, "if  x == 1 { return }", true},
		"other spaces":       {10, "if x == 1", true},
		"a little off":       {5, "x == 1", true},
		"too far off":        {4, "x == 1", false},
		"not there":          {10, "x == 2", false},
		"no quote":           {10, " ", false},
		"no line":            {0, "x == 1", false},
		"two lines":          {30, "third\nother", true},
		"a sign of the diff": {10, "+\tif x == 1", true},
		"lines not in a row": {10, "x == 1 { return }\nthird", false},
	} {
		if got := (review.Point{Line: c.line, Quote: c.quote}).Stands(file); got != c.want {
			t.Errorf("%s: stands %v, want %v", name, got, c.want)
		}
	}
	if (review.Point{Line: 1, Quote: "x"}).Stands(nil) {
		t.Error("it stands in a file that is not there")
	}
}

func TestPointsStayShort(t *testing.T) {
	long := strings.Repeat("é", 5000)
	points, err := review.Read(`{"points":[{"criterion":1,"file":"a","why":"`+long+`","quote":"`+long+`"}]}`, 1)
	if err != nil || len(points) != 1 || len(points[0].Why) > 410 || len(points[0].Quote) > 410 {
		t.Errorf("points %v, %v", points, err)
	}
	many := strings.Repeat(`{"criterion":1},`, 500)
	points, err = review.Read(`{"points":[`+strings.TrimSuffix(many, ",")+`]}`, 1)
	if err != nil || len(points) != 100 {
		t.Errorf("%d points, %v", len(points), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("```json\n{\"points\":[{\"criterion\":1}]}\n```", 2)
	f.Add(`{"points":[{"criterion":-1},{"criterion":9223372036854775807}]} {"points":null}`, 1)
	f.Add("```json\n{\"points\":[]}\n```\n```json\n{\"points\":[{\"criterion\":\"1\"}]}", 1)
	f.Fuzz(func(t *testing.T, answer string, criteria int) {
		points, err := review.Read(answer, criteria)
		if err != nil && points != nil {
			t.Errorf("points with %v", err)
		}
		for _, p := range points {
			if p.Criterion < 1 || p.Criterion > criteria {
				t.Errorf("criterion %d of %d", p.Criterion, criteria)
			}
			p.Stands([]byte(answer))
		}
	})
}
