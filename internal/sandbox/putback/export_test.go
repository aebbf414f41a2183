//go:build linux

package putback

// WithFields is what a file becomes of which only those fields may change.
var WithFields = withFields
