package guard

import (
	"slices"
	"strings"
)

// Conditions returns the names behind each @ in the table, with what may stand
// before them: <, > or $.
func Conditions() []string {
	var names []string
	for _, rules := range rulesByProgram() {
		for _, r := range rules {
			for _, token := range slices.Concat(r.Flags, r.Operands, r.Unless) {
				if list, is := strings.CutPrefix(token, "@"); is {
					names = append(names, strings.Split(list, "|")...)
				}
			}
		}
	}
	return names
}

// Areas returns the names of all areas.
func Areas() []string {
	names := []string{keyFile, envFile}
	for _, a := range areas {
		names = append(names, a.name)
	}
	return names
}
