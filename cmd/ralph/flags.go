//go:build !windows

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// errBlank often comes from an unset shell variable.
var errBlank = errors.New("the value is blank")

// nonBlank refuses a blank value: an empty check passes, and an empty agent command would start the
// usual agent. It also refuses a limit that would silently be none.
type nonBlank struct{ kong.Mapper }

func (m nonBlank) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if text, ok := ctx.Scan.Peek().Value.(string); ok && strings.TrimSpace(text) == "" {
		return errBlank
	}
	if err := m.Mapper.Decode(ctx, target); err != nil {
		return err
	}
	switch limit := target.Interface().(type) { // by a pointer: a number that may be left out
	case *int:
		return checkLimit(float64(*limit), mostInSettings)
	case *float64:
		return checkLimit(*limit, mostInSettings)
	case float64:
		return checkLimit(limit, mostInSettings)
	case *int64: // tokens
		return checkLimit(float64(*limit), 1000*mostInSettings)
	}
	return nil
}

const mostInSettings = 1e9

func checkLimit(limit, most float64) error {
	if limit >= 0 && limit <= most {
		return nil
	}
	return fmt.Errorf("%.12g is not from 0 to %.0f; 0 turns the limit off", limit, most)
}

func refuseBlankValues(model *kong.Application) error {
	return kong.Visit(model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && !flag.IsBool() {
			flag.Mapper = nonBlank{flag.Mapper}
		}
		return next(nil)
	})
}

// levels reads a sandbox level, Docker's too. The flag without a value is auto.
type levels struct{}

func (levels) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		target.SetString(string(sandbox.Auto))
		return nil
	}
	var word string
	if err := ctx.Scan.PopValueInto("level", &word); err != nil {
		return err
	}
	if known := sandbox.Names(laptop.InDocker); !slices.Contains(known, word) {
		return fmt.Errorf("%q is not a sandbox level; choose one of %s", word, strings.Join(known, ", "))
	}
	target.SetString(word)
	return nil
}

// IsBool has kong take the flag without a value.
func (levels) IsBool() bool { return true }

type folders struct{ laptop.World }

func (f folders) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	var name string
	if err := ctx.Scan.PopValueInto("path", &name); err != nil {
		return err
	}
	dir, err := f.Folder(name)
	if err != nil {
		return err
	}
	target.SetString(dir)
	return nil
}

func explainMisuse(err error, args []string) error {
	if explained, ok := errors.AsType[*fault.Fault](err); ok {
		return explained
	}
	what := plainMessage(strings.TrimSpace(err.Error()))
	parseErr, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parseErr.Context == nil || parseErr.Context.Selected() == nil {
		what = strings.Replace(what, "unexpected argument", "there is no command", 1)
		return fault.Usage(what, cmp.Or(replacement(what), "see ralph --help"), nil)
	}
	chosen := parseErr.Context.Selected()
	fix := cmp.Or(replacement(what), "see ralph "+chosen.Path()+" --help")
	if errors.Is(err, errBlank) {
		flag, _, _ := strings.Cut(what, ":")
		fix = "give it a value, or leave out " + flag + "; a shell variable may be unset"
	}
	if word, ok := strings.CutPrefix(what, "unexpected argument "); ok {
		if i := slices.Index(args, word); i > 0 && args[i-1] == "--sandbox" {
			levels := strings.Join(sandbox.Names(), ", ")
			fix = "give the level with an equals sign: --sandbox=" + word + "; levels: " + levels
			return fault.Usage(what, fix, nil)
		}
		fix = cmp.Or(chosen.Tag.Get("stray"), fix)
	}
	return fault.Usage(what, fix, nil)
}

// replacement returns what to do instead of the removed command or flag that an error names.
func replacement(what string) string {
	name, _, _ := strings.Cut(what, ",") // a suggestion follows
	name = strings.Replace(name, "there is no command", "ralph", 1)
	return config.Removed[strings.TrimPrefix(name, "unknown flag ")]
}

func plainMessage(text string) string {
	for _, words := range [][2]string{
		{`, did you mean "--\w"\?$`, ""}, // an alias that no help shows
		{
			`^(--\S+): expected \S+ value but got "(-[\d.]+\w*)" \(short flag\).*`,
			"$1: $2 is below 0; 0 turns the limit off",
		},
		{`^(--\S+): (?:expected .* value but got "EOL"|missing value, expecting).*`, "$1 needs a value"},
		{`^expected "(<[^"]+>).*`, "$1 is missing"},
		{`^(--\S+): expected a float but got ("[^"]*").*`, "$1: found $2, want a number such as 5 or 2.50"},
		{`^(--\S+): expected a valid \d+ bit int but got ("[^"]*").*`, "$1: found $2, want a whole number such as 5"},
	} {
		text = regexp.MustCompile(words[0]).ReplaceAllString(text, words[1])
	}
	return text
}

// printError prints an error and its hint, which may quote a file that others wrote.
func printError(to io.Writer, err error) {
	first, more, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(to, "ralph: %s\n", clean.LogLine(first))
	for line := range strings.Lines(more) {
		fmt.Fprintf(to, "ralph:   %s\n", clean.LogLine(strings.TrimSpace(line)))
	}
	if hint := laptop.Hint(err); hint != "" {
		fmt.Fprintf(to, "ralph: hint: %s", clean.LogLines(hint))
	}
}
