package plan

import (
	"fmt"
	"slices"
	"strings"
)

// tangle is something wrong between stories. It speaks of the story's id, or
// of one of its dependencies where dep is not negative.
type tangle struct {
	story, dep int
	text       string
}

// tangles finds equal ids, dependencies on nothing, and circles of them. A
// plan without any can always go on: see Next.
func tangles(stories []Story) []tangle {
	first := make(map[string]int, len(stories))
	var ids []string
	var found []tangle
	for i, s := range stories {
		if _, ok := first[s.ID]; !ok {
			first[s.ID] = i
			ids = append(ids, s.ID)
		} else if !blank(s.ID) {
			found = append(found, tangle{i, -1, "used by an earlier story, want an id of its own"})
		}
	}
	for i, s := range stories {
		for j, dep := range s.DependsOn {
			if _, ok := first[dep]; !ok && !blank(dep) {
				found = append(found, tangle{i, j, unknown(dep, ids, len(found))})
			}
		}
	}
	c := circles{stories: stories, first: first, seen: make([]bool, len(stories))}
	for i := range stories {
		c.visit(i)
	}
	return append(found, c.found...)
}

// unknown looks for what was meant only while the answer will be shown.
func unknown(dep string, ids []string, before int) string {
	text := fmt.Sprintf("depends on %q, which is no story here", clip(dep, maxFound))
	if before >= maxShown {
		return text
	}
	return text + didYouMean(dep, ids)
}

// circles walks the dependencies depth first: one that leads back onto the
// trail closes a circle.
type circles struct {
	stories []Story
	first   map[string]int
	seen    []bool
	trail   []int
	found   []tangle
}

func (c *circles) visit(i int) {
	if c.seen[i] {
		return
	}
	c.seen[i] = true
	c.trail = append(c.trail, i)
	for j, id := range c.stories[i].DependsOn {
		dep, ok := c.first[id]
		if !ok {
			continue
		}
		if start := slices.Index(c.trail, dep); start >= 0 {
			c.found = append(c.found, tangle{i, j, "goes in a circle: " + c.circle(start)})
		}
		c.visit(dep)
	}
	c.trail = c.trail[:len(c.trail)-1]
}

func (c *circles) circle(start int) string {
	var ids []string
	for _, i := range c.trail[start:] {
		ids = append(ids, clip(c.stories[i].ID, maxFound))
	}
	return strings.Join(append(ids, ids[0]), " -> ")
}
