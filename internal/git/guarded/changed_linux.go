package guarded

import "syscall"

func changed(stat *syscall.Stat_t) any { return stat.Ctim }
