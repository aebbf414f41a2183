package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/laptop"
)

// straying is a command that knows what may be meant by a word that no flag
// stands before.
type straying interface{ stray(word string) string }

// misused makes a fault of what kong has to say.
func misused(err error) error {
	what, fix := plainly(strings.TrimSpace(err.Error())), "see ralph --help"
	wrong, is := errors.AsType[*kong.ParseError](err)
	if !is || wrong.Context == nil || wrong.Context.Selected() == nil {
		return fault.Usage(what, fix, nil)
	}
	chosen := wrong.Context.Selected()
	fix = "see ralph " + chosen.Path() + " --help"
	if errors.Is(err, errBlank) {
		flag, _, _ := strings.Cut(what, ":")
		fix = "say what it is to be, or leave " + flag + " out; it may be a variable that is not set"
	}
	if word, stray := strings.CutPrefix(what, "unexpected argument "); stray {
		if s, is := reflect.TypeAssert[straying](chosen.Target); is {
			fix = s.stray(word)
		}
	}
	return fault.Usage(what, fix, nil)
}

// plainly says in everybody's words what kong says in a programmer's.
func plainly(said string) string {
	for _, words := range [][2]string{
		{`^(--\S+): expected \S+ value but got "(-[\d.]+)" \(short flag\).*`, "$1: $2 is below 0; 0 turns the limit off"},
		{`^(--\S+): (?:expected .* value but got "EOL"|missing value, expecting).*`, "$1: there is nothing behind it"},
		{`^expected "(<[^"]+>).*`, "$1 is missing"},
		{`^(--\S+): expected a (?:float but got ("\d+(?:\.\d*)?(?:[eE]\+?\d+)?")|valid \d+ bit int but got ("[1-9]\d*")).*`, "$1: $2$3 is too large"},
		{`^(--\S+): expected a(?: valid \d+ bit)? (?:float|int) but got ("[^"]*").*`, "$1: $2 is no number"},
	} {
		said = regexp.MustCompile(words[0]).ReplaceAllString(said, words[1])
	}
	return said
}

// complain prints an error as every command does: what, then what to try.
func complain(to io.Writer, err error) {
	first, more, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(to, "ralph: %s\n", first)
	for line := range strings.Lines(more) {
		fmt.Fprintf(to, "ralph:   %s\n", strings.TrimSpace(line))
	}
	if hint := laptop.Hint(err); hint != "" {
		fmt.Fprintf(to, "ralph: hint: %s\n", hint)
	}
}
