package jsontree

import "strings"

const maxWord = 64 // limits the work of Nearest: longer words are not typing errors

// Nearest finds the known word that was probably meant. Case does not count, two swapped letters count once, and one
// error in three letters is accepted, at most three.
func Nearest(word string, known []string) (string, bool) {
	found, least := "", -1
	for _, k := range known {
		a, b := []rune(strings.ToLower(word)), []rune(strings.ToLower(k))
		longer, shorter := max(len(a), len(b)), min(len(a), len(b))
		limit := min(longer/3, 3)
		if longer > maxWord || longer-shorter > limit {
			continue
		}
		if d := distance(a, b); d <= limit && (least < 0 || d < least) {
			found, least = k, d
		}
	}
	return found, least >= 0
}

// distance counts edits and swaps of neighbours (optimal string alignment).
func distance(a, b []rune) int {
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before = above
		above = row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			replaced := above[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, replaced)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
