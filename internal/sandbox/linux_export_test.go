//go:build linux

package sandbox

// Greet is the server by which a wall shows that it lets servers be.
var Greet = greet
