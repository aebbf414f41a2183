package scaffold

import (
	"bufio"
	"context"
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

type dialog struct {
	out  io.Writer
	line func(prompt string) (string, error) // ends its line, no matter what happens
}

// ask puts a question until check says nothing against the answer.
func (d dialog) ask(prompt string, check func(answer string) string) (string, error) {
	for {
		answer, err := d.line(prompt)
		if err != nil {
			return "", err
		}
		answer = strings.TrimSpace(answer)
		wrong := check(answer)
		if !utf8.ValidString(answer) || strings.ContainsFunc(answer, unicode.IsControl) {
			wrong = "it contains control characters: type it again"
		}
		if wrong == "" {
			return answer, nil
		}
		indent := prompt[:len(prompt)-len(strings.TrimLeft(prompt, " "))]
		fmt.Fprintln(d.out, indent+wrong)
	}
}

// yes asks a question. An empty answer counts as fallback.
func (d dialog) yes(prompt string, fallback bool) (bool, error) {
	answer, err := d.ask(prompt, func(answer string) string {
		if slices.Contains([]string{"", "y", "yes", "n", "no"}, strings.ToLower(answer)) {
			return ""
		}
		return "answer y or n"
	})
	if err != nil {
		return false, err
	}
	if answer == "" {
		return fallback, nil
	}
	return strings.HasPrefix(strings.ToLower(answer), "y"), nil
}

// Terminal is where a person sits.
type Terminal struct{ In, Out *os.File }

// talk returns a dialog with the person at the terminal, until ctx ends.
func (t Terminal) talk(ctx context.Context) (dialog, error) {
	if !term.IsTerminal(int(t.In.Fd())) {
		return dialog{}, fault.Usage("ralph init asks questions, but standard input is not a terminal",
			"ralph init --yes takes what it would propose", nil)
	}
	type answer struct {
		line string
		err  error
	}
	lines := bufio.NewReader(t.In)
	typed := make(chan answer, 1)
	return dialog{out: t.Out, line: func(prompt string) (string, error) {
		if _, err := io.WriteString(t.Out, prompt); err != nil {
			return "", err
		}
		go func() { // a read that waits for a key ends with the program
			line, err := lines.ReadString('\n')
			typed <- answer{line, err}
		}()
		given := answer{err: errInterrupted}
		select {
		case given = <-typed:
		case <-ctx.Done():
		}
		if given.err != nil {
			fmt.Fprintln(t.Out)
		}
		return given.line, given.err
	}}, nil
}
