//go:build linux

package process

// KeepEach is KeepFrom on an old kernel.
var KeepEach = closeEachOnExec

// KillUser is killUser.
var KillUser = killUser

// GiveUp gives up on the program with that pid, as if it could not be killed.
func GiveUp(pid int) {
	subreaper.Lock()
	t := subreaper.live[pid]
	subreaper.Unlock()
	t.giveUp()
}

// Busy keeps the process table from being read, until the returned function runs.
func Busy() (end func()) {
	subreaper.Lock()
	return subreaper.Unlock
}
