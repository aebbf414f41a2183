// Package short picks the cases of slow tables that make test runs, which has two minutes on two cores.
package short

import (
	"flag"
	"hash/fnv"
	"testing"
)

// Has reports whether a case is to run: with -short one in 32 by its name is, unless -run names tests.
func Has(name string) bool {
	if !testing.Short() || flag.Lookup("test.run").Value.String() != "" {
		return true
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return sum.Sum32()%32 == 0
}
