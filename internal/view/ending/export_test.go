package ending

import (
	"maps"
	"slices"
)

// Causes returns all causes.
func Causes() []Cause { return slices.Sorted(maps.Keys(table)) }
