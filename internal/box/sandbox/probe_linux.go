package sandbox

import (
	"context"
	"fmt"
	"os"
)

func probe(ctx context.Context, base Config, exec Exec) Report {
	r := Report{Level: None, Found: []Mechanism{base.findLandlock(), base.findUser()}}
	for _, g := range variants {
		w := base
		w.Level = g.level
		w.HostPIDs = g.hostPIDs
		_, err := w.Check(ctx, exec)
		m := Mechanism{Name: g.name, Found: err == nil}
		if err != nil {
			m.Detail = err.Error()
		} else if r.Level == None {
			r.Level = g.level
			r.HostPIDs = g.hostPIDs
		}
		r.Found = append(r.Found, m)
	}
	return r
}

func (w Config) findLandlock() Mechanism {
	abi := landlockOf(w.abi)
	m := Mechanism{Name: "Landlock", Found: abi > 0}
	switch {
	case abi == 0:
		m.Detail = "the kernel has none, or it is not switched on (lsm=landlock)"
	case abi < 4:
		m.Detail = fmt.Sprintf(
			"ABI %d: files, but no TCP (Linux 6.7) and no signals and abstract sockets (6.12)", abi)
	case abi < 6:
		m.Detail = fmt.Sprintf("ABI %d: files and TCP, but no signals and abstract sockets (Linux 6.12)", abi)
	default:
		m.Detail = fmt.Sprintf("ABI %d", abi)
	}
	return m
}

func (w Config) findUser() Mechanism {
	m := Mechanism{Name: "another user", Found: !w.sameUser()}
	switch {
	case m.Found:
		m.Detail = fmt.Sprintf("uid %d", w.UID)
	case os.Geteuid() == 0:
		m.Detail = "none was named"
	default:
		m.Detail = "only root can become another"
	}
	return m
}
