//go:build linux

package connect

// Dial is for tests of its own.
var Dial = dial
