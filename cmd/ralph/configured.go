package main

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// configured are the project's settings, with the file that --config names laid
// over them.
func (d *desk) configured(name string, read func(config.File, ...config.File) (config.Loop, error)) (config.Loop, error) {
	if name == "" {
		return config.Loop{Settings: d.settings}, nil
	}
	data, err := workspace.ReadPlain(name)
	if err != nil {
		return config.Loop{}, fault.Usage("cannot read "+name, "name another with --config", err)
	}
	d.tell("Loading settings from %s", name)
	loop, err := read(config.File{Name: name, Data: data}, d.found...)
	if err != nil {
		return loop, err
	}
	d.settings, d.Agent = loop.Settings, cmp.Or(d.Agent, loop.Agent)
	return loop, d.obey()
}
