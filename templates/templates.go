// Package templates holds every text that a person or an agent reads. It has
// no code that fills them in.
package templates

import "embed"

// Files are the texts by path, as "prompt/stories.md".
//
//go:embed prompt comment pull start demo archive workflows session report completion help
var Files embed.FS

// Text returns the text at a path of Files.
func Text(name string) string {
	text, err := Files.ReadFile(name)
	if err != nil {
		panic(err) // no text of that name was built in
	}
	return string(text)
}
