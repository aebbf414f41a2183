package sandbox

import "github.com/ralph-loop/ralph/internal/pattern"

// settings are the machine's own, which say where packages come from, and may
// say who asks for them.
var settings = []string{"/etc/gitconfig", "/etc/npmrc", "/etc/pip.conf", "/etc/wgetrc"}

var revealing = pattern.Of(`(?i)_auth|passw|token|secret|extraheader|://[^/\s]+@`)
