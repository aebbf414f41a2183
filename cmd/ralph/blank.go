package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// errBlank is said of a flag that is given and says nothing, as a variable of a
// script that is not set.
var errBlank = errors.New("there is nothing in it")

// worded reads what stands behind a flag, and refuses it where that is blank: an
// empty check passes, and an empty agent command would start the usual agent. To no
// flag it means anything; one to which it does is to be left out by refuseBlank.
type worded struct{ kong.Mapper }

// Decode reads it. Kong asks for it.
func (m worded) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if said, is := ctx.Scan.Peek().Value.(string); is && strings.TrimSpace(said) == "" {
		return errBlank
	}
	return m.Mapper.Decode(ctx, target)
}

// refuseBlank has all flags refuse it that are given with a value.
func refuseBlank(model *kong.Application) error {
	return kong.Visit(model, func(node kong.Visitable, next kong.Next) error {
		if flag, is := node.(*kong.Flag); is && !flag.IsBool() {
			flag.Mapper = worded{flag.Mapper}
		}
		return next(nil)
	})
}

// The types of flags that are sandbox levels: any, and those of ralph's own.
const (
	anyLevel = "level"
	ownLevel = "ownlevel"
)

// levels reads a sandbox level. Where it may be that of Docker, a flag without a
// value is auto.
type levels struct{ docker bool }

// Decode reads it. Kong asks for it.
func (l levels) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if l.docker && ctx.Scan.Peek().Type != kong.FlagValueToken {
		target.SetString(string(sandbox.Auto))
		return nil
	}
	var word string
	if err := ctx.Scan.PopValueInto("level", &word); err != nil {
		return err
	}
	var besides []string
	if l.docker {
		besides = []string{laptop.InDocker}
	}
	if !sandbox.Level(word).Known() && !slices.Contains(besides, word) {
		return fmt.Errorf("%q is no sandbox level; there are %s", word, strings.Join(sandbox.Names(besides...), ", "))
	}
	target.SetString(word)
	return nil
}

// IsBool has kong take the flag without a value.
func (l levels) IsBool() bool { return l.docker }
