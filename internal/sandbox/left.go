package sandbox

import (
	"slices"
	"strconv"
	"strings"
)

// ownedIDs reads a table of /proc/sysvipc: the numbers of those that the user owns or made.
func ownedIDs(table, title, uid string) (ids []int) {
	head, rows, _ := strings.Cut(table, "\n")
	titles := strings.Fields(head)
	number, owner, maker := slices.Index(titles, title), slices.Index(titles, "uid"), slices.Index(titles, "cuid")
	if number < 0 || owner < 0 || maker < 0 {
		return nil
	}
	for row := range strings.Lines(rows) {
		fields := strings.Fields(row)
		if len(fields) <= max(number, owner, maker) || fields[owner] != uid && fields[maker] != uid {
			continue
		}
		if id, err := strconv.Atoi(fields[number]); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}
