//go:build windows

package main

import (
	"fmt"
	"os"
)

// On Windows the program only says what to do: it needs signals, locks and file modes that Windows does not have.
func main() {
	fmt.Fprintln(os.Stderr, "ralph: Windows is not supported: install ralph in WSL2 (wsl --install) and run it there")
	os.Exit(2)
}
