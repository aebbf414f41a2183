package tamper

import (
	"cmp"
	"slices"
)

// likely is that one of the first list has become one of the second.
type likely struct {
	a, b int
	how  float64
}

// marry pairs the members of two lists, the likeliest first, those that stand
// nearest among equals. The others are left.
func marry(was, now int, all []likely) (pairs []likely, left, right []int) {
	slices.SortStableFunc(all, func(x, y likely) int {
		return cmp.Or(cmp.Compare(y.how, x.how), cmp.Compare(x.distance(), y.distance()))
	})
	one, two := make([]bool, was), make([]bool, now)
	for _, l := range all {
		if !one[l.a] && !two[l.b] {
			one[l.a], two[l.b] = true, true
			pairs = append(pairs, l)
		}
	}
	return pairs, single(one), single(two)
}

func single(married []bool) []int {
	var left []int
	for i, is := range married {
		if !is {
			left = append(left, i)
		}
	}
	return left
}

func (l likely) distance() int { return max(l.a-l.b, l.b-l.a) }

// chosen are the members at some places.
func chosen[T any](list []T, places []int) []T {
	var some []T
	for _, i := range places {
		some = append(some, list[i])
	}
	return some
}
