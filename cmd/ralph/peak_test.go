package main_test

import (
	"fmt"
	"os"
	"regexp"
)

// peakKey names a file for a ralph that a test started: each of its processes adds there how
// much memory it took at most, where the system tells that.
const peakKey = "RALPH_TEST_PEAK"

var peakLine = regexp.MustCompile(`VmHWM:.*\n`)

func tellPeak(name string) {
	status, err := os.ReadFile("/proc/self/status")
	if name == "" || err != nil {
		return
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(file, "%s", peakLine.Find(status))
	}
	if err != nil {
		panic(err)
	}
}
