package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/sandbox"
)

// level is a flag's: one that is given without a value is auto.
type level sandbox.Level

// Decode reads it. Kong asks for it.
func (l *level) Decode(ctx *kong.DecodeContext) error {
	*l = level(sandbox.Auto)
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	word, _ := ctx.Scan.Pop().Value.(string)
	if word == inDocker {
		*l = inDocker
		return nil
	}
	return (*rung)(l).read(word, inDocker)
}

// IsBool has kong take the flag without a value.
func (*level) IsBool() bool { return true }

// rung is a level that is always named, and one of ralph's own.
type rung sandbox.Level

// Decode reads it. Kong asks for it.
func (r *rung) Decode(ctx *kong.DecodeContext) error {
	var word string
	if err := ctx.Scan.PopValueInto("level", &word); err != nil {
		return err
	}
	return r.read(word)
}

func (r *rung) read(word string, besides ...string) error {
	if !sandbox.Level(word).Known() {
		return fmt.Errorf("%q is no sandbox level; there are %s", word, strings.Join(sandbox.Names(besides...), ", "))
	}
	*r = rung(word)
	return nil
}

// inDocker is the level that Docker makes, and not ralph.
const inDocker = "docker"
