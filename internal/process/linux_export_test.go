//go:build linux

package process

// KeepEach is KeepFrom on an old kernel.
var KeepEach = keepEach
