//go:build !linux

package process_test

var rolesHere map[string]func(args []string)
