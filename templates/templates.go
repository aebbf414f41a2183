// Package templates keeps every word that a person or an agent reads. It holds
// texts only; who fills them in, and with what, is decided elsewhere.
package templates

import "embed"

// Files are the texts by path, as "prompt/stories.md".
//
//go:embed prompt comment pull start demo archive workflows session report server completion
var Files embed.FS
