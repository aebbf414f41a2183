package tamper

import (
	"math"
	"strconv"
)

// parse is a number as source has it; 0 where it is none.
func parse(digits string) float64 {
	n, err := strconv.ParseFloat(canonical(digits), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

func power(n float64) float64 { return math.Pow(10, n) }
