//go:build !windows

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/templates"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

func (c completionCommand) run(_ context.Context, w world) (int, error) {
	text, err := templates.Files.ReadFile("completion/" + c.Shell)
	if err == nil {
		_, err = w.Stdout.Write(text)
	}
	return fault.ExitDone, err
}

// completed answers the shells' functions: ralph completion SHELL -- WORD…
type completed struct {
	shell string
	model *kong.Node
	words []string
}

// isCompletion recognizes such a question, which the grammar does not know.
func isCompletion(args []string) bool {
	return len(args) >= 3 && args[0] == "completion" && args[2] == "--"
}

// run writes a line for each, with a description for some shells. Names of files get none.
func (c completed) run(_ context.Context, w world) (int, error) {
	line := readHalfLine(c.model, c.words)
	for _, o := range line.offers() {
		if !strings.HasPrefix(o.word, line.last) {
			continue
		}
		text := o.word
		if about, _, _ := strings.Cut(o.about, "\n"); c.shell != "bash" && about != "" {
			text += "\t" + about
		}
		if _, err := fmt.Fprintln(w.Stdout, text); err != nil {
			return 0, err
		}
	}
	return fault.ExitDone, nil
}

type halfLine struct {
	node *kong.Node
	flag *kong.Flag // that waits for its value
	args int        // that were given
	rest bool       // no flag comes any more
	last string
}

func readHalfLine(model *kong.Node, words []string) halfLine {
	l := halfLine{node: model}
	if len(words) == 0 {
		return l
	}
	for _, word := range words[:len(words)-1] {
		l.take(word)
	}
	l.last = words[len(words)-1]
	return l
}

func (l *halfLine) take(word string) {
	child := slices.IndexFunc(l.node.Children, func(n *kong.Node) bool { return n.Name == word })
	switch {
	case l.flag != nil:
		l.flag = nil
	case !l.rest && word == "--":
		l.rest = true
	case !l.rest && strings.HasPrefix(word, "-"):
		if flag := l.named(word); flag != nil && !flag.IsBool() && !flag.IsCounter() {
			l.flag = flag
		}
	case child >= 0:
		l.node, l.args = l.node.Children[child], 0
	default:
		l.args++
	}
}

func (l *halfLine) named(word string) *kong.Flag {
	for _, flag := range slices.Concat(l.node.AllFlags(false)...) {
		if word == "--"+flag.Name || flag.Short != 0 && word == "-"+string(flag.Short) {
			return flag
		}
	}
	return nil
}

type offer struct{ word, about string }

func (l *halfLine) offers() []offer {
	switch {
	case l.flag != nil:
		return choices(l.flag.Value)
	case !l.rest && strings.HasPrefix(l.last, "-"):
		return l.flags()
	case len(l.node.Children) > 0:
		return l.commands()
	case l.args < len(l.node.Positional):
		return choices(l.node.Positional[l.args])
	}
	return nil
}

func (l *halfLine) commands() (all []offer) {
	for _, n := range l.node.Children {
		if !n.Hidden {
			all = append(all, offer{n.Name, n.Help})
		}
	}
	return all
}

func (l *halfLine) flags() (all []offer) {
	for _, flag := range slices.Concat(l.node.AllFlags(true)...) {
		all = append(all, offer{"--" + flag.Name, flag.Help})
		if flag.Tag.Negatable != "" {
			all = append(all, offer{"--no-" + flag.Name, "Not: " + flag.Help})
		}
	}
	return all
}

func choices(value *kong.Value) (all []offer) {
	var words []string
	switch {
	case value.Tag.Type == ownLevel:
		words = sandbox.Names()
	case value.Enum != "":
		words = value.EnumSlice()
	case value.Name == "agent":
		words = agent.Names()
	}
	for _, word := range words {
		all = append(all, offer{word, ""})
	}
	return all
}
