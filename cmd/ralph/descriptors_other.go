//go:build !linux

package main

// keepToOurselves is for Linux.
func keepToOurselves() {}
