package scaffold

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// dialog asks questions. After an error it asks nothing more, and each answer is empty.
type dialog struct {
	out  io.Writer
	line func(prompt string) (string, error) // ends its line, no matter what happens
	err  error
}

// ask puts a question until check has nothing against the answer.
func (d *dialog) ask(prompt string, check func(answer string) error) string {
	for d.err == nil {
		answer, err := d.line(prompt)
		if err != nil {
			d.err = err
			break
		}
		answer = strings.TrimSpace(answer)
		wrong := check(answer)
		if !utf8.ValidString(answer) || strings.ContainsFunc(answer, unicode.IsControl) {
			wrong = errors.New("it contains control characters: type it again")
		}
		if wrong == nil {
			return answer
		}
		indent := prompt[:len(prompt)-len(strings.TrimLeft(prompt, " "))]
		fmt.Fprintf(d.out, "%s%v\n", indent, wrong)
	}
	return ""
}

// askOr asks a question. An empty answer counts as the proposal.
func (d *dialog) askOr(prompt, proposal string, check func(answer string) error) string {
	answer := d.ask(fmt.Sprintf("%s [%s]: ", prompt, proposal), func(answer string) error {
		return check(cmp.Or(answer, proposal))
	})
	return cmp.Or(answer, proposal)
}

// yes asks a question. An empty answer counts as fallback.
func (d *dialog) yes(prompt string, fallback bool) bool {
	answer := d.ask(prompt, func(answer string) error {
		if slices.Contains([]string{"", "y", "yes", "n", "no"}, strings.ToLower(answer)) {
			return nil
		}
		return errors.New("answer y or n")
	})
	if answer == "" {
		return fallback
	}
	return strings.HasPrefix(strings.ToLower(answer), "y")
}

// Terminal is where a person sits.
type Terminal struct{ In, Out *os.File }

// talk returns a dialog with the person at the terminal, until ctx ends.
func (t Terminal) talk(ctx context.Context) (*dialog, error) {
	if !term.IsTerminal(int(t.In.Fd())) {
		return nil, fault.Usage("ralph init asks questions, but standard input is not a terminal",
			"ralph init --yes takes what it would propose", nil)
	}
	type answer struct {
		line string
		err  error
	}
	lines := bufio.NewReader(t.In)
	typed := make(chan answer, 1)
	return &dialog{out: t.Out, line: func(prompt string) (string, error) {
		fmt.Fprint(t.Out, prompt)
		go func() { // a read that waits for a key ends with the program
			line, err := lines.ReadString('\n')
			typed <- answer{line, err}
		}()
		var given answer
		select {
		case given = <-typed:
		case <-ctx.Done():
			given.err = ctx.Err()
		}
		if given.err != nil {
			fmt.Fprintln(t.Out)
		}
		return given.line, given.err
	}}, nil
}
