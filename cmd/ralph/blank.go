package main

import (
	"errors"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
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
