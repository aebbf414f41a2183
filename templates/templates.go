// Package templates holds every text that a person or an agent reads. It has
// no code that fills them in.
package templates

import "embed"

// Files are the texts by path, as "prompt/stories.md".
//
//go:embed prompt comment pull start demo archive workflows session report server completion
var Files embed.FS
