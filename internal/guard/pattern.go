package guard

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is read when it is first asked for.
// There are more than a hundred, a command needs a few of them, and a hook is
// started anew for each.
type pattern func() *regexp.Regexp

func regex(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
