package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
)

// Confinement has the inputs for the sandbox.
type Confinement struct {
	Level      sandbox.Level
	KeyInAgent bool     // an agent whose traffic cannot go through ralph's model server may have its key
	Models     []string // models that are allowed besides the run's own
	Network    confine.Network
}

const keyInAgentWord = "key-in-agent"

func (r *reader) confinement() Confinement {
	c := Confinement{
		Level:   sandbox.Auto,
		Network: confine.Network{Packages: true, Allow: r.hosts("allow-domains")},
	}
	for _, word := range r.list("sandbox") {
		level := sandbox.Level(word)
		switch {
		case word == keyInAgentWord:
			c.KeyInAgent = true
		case !level.Known():
			known := strings.Join(sandbox.Names(keyInAgentWord), ", ")
			r.addError("sandbox", fmt.Errorf("%q is not one of %s", word, known))
		case c.Level != sandbox.Auto:
			r.addError("sandbox", fmt.Errorf("%q names more than one level", r.get("sandbox")))
		default:
			c.Level = level
		}
	}
	return c
}

func (r *reader) hosts(name string) []string {
	all := r.list(name)
	_, err := egress.ParseNames(all)
	r.addError(name, err)
	return slices.Compact(all)
}
