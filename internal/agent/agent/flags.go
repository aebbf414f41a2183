package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

// flagRule is for a flag that a program refuses twice, or no longer knows.
type flagRule struct {
	only string // the value that it always gets; empty: it has none
	note string // said of it
	read bool   // the adapter has read its value
}

type flagRules map[string]flagRule

// keep returns the flags without those that rules leave out, and notes on them.
func (rules flagRules) keep(words []string) (flags, notes []string) {
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		rule, known := rules[name]
		if rule.read {
			if !joined {
				i++
			}
			continue
		}
		hasOtherForm := joined && rule.only == ""
		if !known || hasOtherForm {
			flags = append(flags, words[i])
			continue
		}
		if rule.only != "" && !joined && i+1 < len(words) {
			i++
			value = words[i]
		}
		if value != rule.only {
			rule.note = fmt.Sprintf("%s is always %s: another value is ignored", name, rule.only)
		}
		if rule.note != "" {
			notes = append(notes, rule.note)
		}
	}
	return flags, notes
}

// split applies the rules to the words of a command and to the user's flags after it.
func (rules flagRules) split(words, args []string) (command, extra, notes []string) {
	kept, notes := rules.keep(words[1:])
	command = slices.Concat(words[:1], kept)
	extra, more := rules.keep(args)
	return command, extra, slices.Compact(append(notes, more...))
}

func modelOf(flags []string, order Order) string {
	if model := modelInFlags(flags); model != "" {
		return model
	}
	return order.Model
}

// modelFlags are empty without a flag, and if the user's flags name a model: some programs refuse two.
func modelFlags(flag string, flags []string, order Order) []string {
	if flag == "" || order.Model == "" || modelInFlags(flags) != "" {
		return nil
	}
	return []string{flag, order.Model}
}

func modelInFlags(flags []string) string {
	for i, flag := range flags {
		name, value, joined := strings.Cut(flag, "=")
		switch {
		case name != "-m" && name != "--model":
		case joined:
			return value
		case i+1 < len(flags):
			return flags[i+1]
		}
	}
	return ""
}

// trimSubcommand removes a subcommand that the adapter adds itself: "codex e".
func trimSubcommand(words []string, names ...string) []string {
	last := len(words) - 1
	if last > 0 && slices.Contains(names, words[last]) {
		return words[:last]
	}
	return words
}

// Words splits a line as a shell does. A variable or a pipe in it is refused, as nothing is expanded.
func Words(line string) ([]string, error) {
	words, err := shell.Words(line)
	if err != nil {
		return nil, fault.Usage(
			fmt.Sprintf("not a plain command: %q", line),
			`put special characters in single quotes, or use a shell: sh -c '…'`, err)
	}
	return words, nil
}
