//go:build !windows

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/templates"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

func (c completionCommand) run(_ context.Context, w world) (int, error) {
	_, err := fmt.Fprint(w.Stdout, templates.Text("completion/"+c.Shell))
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

// run writes a line for each offer, with a description for some shells. Names of files get none.
func (c completed) run(_ context.Context, w world) (int, error) {
	for _, o := range offers(c.model, c.words) {
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

type offer struct{ word, about string }

// offers returns what the last word can become. Words after -- are not ralph's.
func offers(node *kong.Node, words []string) (all []offer) {
	if len(words) == 0 || slices.Contains(words[:len(words)-1], "--") {
		return nil
	}
	before := words[:len(words)-1]
	last := words[len(words)-1]
	var awaited *kong.Flag // which the last word is the value of
	for _, word := range before {
		awaited = awaiting(node, word)
		if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
			node = node.Children[i]
		}
	}
	switch {
	case awaited != nil:
		all = choices(awaited.Value)
	case strings.HasPrefix(last, "-"):
		all = flags(node)
	case len(node.Children) > 0:
		all = commands(node)
	case len(node.Positional) > 0:
		all = choices(node.Positional[0])
	}
	return slices.DeleteFunc(all, func(o offer) bool { return !strings.HasPrefix(o.word, last) })
}

// awaiting returns the flag of that name if it needs a value.
func awaiting(node *kong.Node, word string) *kong.Flag {
	for _, flag := range slices.Concat(node.AllFlags(false)...) {
		named := word == "--"+flag.Name || (flag.Short != 0 && word == "-"+string(flag.Short))
		if named && !flag.IsBool() {
			return flag
		}
	}
	return nil
}

func commands(node *kong.Node) (all []offer) {
	for _, n := range node.Children {
		if !n.Hidden {
			all = append(all, offer{n.Name, n.Help})
		}
	}
	return all
}

func flags(node *kong.Node) (all []offer) {
	for _, flag := range slices.Concat(node.AllFlags(true)...) {
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
