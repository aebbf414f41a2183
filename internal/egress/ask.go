package egress

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/process"
)

// Asker asks package clients where this machine has them fetch from: their own
// words, so mirrors are found, and no host is written down here. It asks in an
// empty folder, where no repository has a say.
type Asker struct {
	Run func(context.Context, process.Command) (process.Result, error)
	Env []string // the user's own: PATH, HOME and what configures the clients
	Dir string   // an empty folder, to be thrown away afterwards

	// Fetch gets a page of an index that a client named: where an index says
	// that its packages lie elsewhere, that is to be allowed as well. May be nil.
	Fetch func(ctx context.Context, url string) ([]byte, error)
}

// Answer is what the clients said.
type Answer struct {
	Names []Name
	Notes []string // what people should know: who could not be asked, what will not work
}

// askTime bounds a client; one that starts a machine of its own takes seconds.
const askTime = 60 * time.Second

// mostSaid is how much of what a client says is read.
const mostSaid = 4 << 20

// Ask asks the clients of these bundles. That one is not there, or does not
// say, is a note and no error.
func (a Asker) Ask(ctx context.Context, bundles []string) (Answer, error) {
	var all Answer
	for _, bundle := range bundles {
		found, err := a.bundle(ctx, bundle)
		if err != nil {
			return Answer{}, fmt.Errorf("ask %s: %w", bundle, err)
		}
		all.Names = append(all.Names, found.Names...)
		all.Notes = append(all.Notes, found.Notes...)
	}
	slices.SortFunc(all.Names, func(a, b Name) int { return strings.Compare(a.String(), b.String()) })
	all.Names = slices.Compact(all.Names)
	return all, nil
}

func (a Asker) bundle(ctx context.Context, bundle string) (Answer, error) {
	var said sources
	for _, q := range questions[bundle] {
		out, err := a.put(ctx, q)
		if err != nil {
			return Answer{}, err
		}
		said.add(q.read(out))
	}
	if page := pages[bundle]; page != nil && a.Fetch != nil {
		for _, index := range slices.Clone(said.urls) {
			text, err := a.Fetch(ctx, page(index))
			if ctx.Err() != nil {
				return Answer{}, err
			}
			said.add(sources{urls: urlsIn(string(text))}) // nothing where it was not fetched
		}
	}
	return said.answer(bundle), nil
}

// put asks one question. A client that is not there says nothing.
func (a Asker) put(ctx context.Context, q question) (string, error) {
	out, aside := &process.Head{N: mostSaid}, &process.Head{N: mostSaid}
	_, err := a.Run(ctx, process.Command{
		Argv: q.argv(a.Dir), Dir: a.Dir, Env: slices.Concat(a.Env, deaf, q.env), Stdout: out, Stderr: aside, Timeout: askTime,
	})
	if ctx.Err() != nil {
		return "", err
	}
	return out.String() + "\n" + aside.String(), nil // cargo tells it among its errors
}

// deaf keeps clients from the network: what is asked is what they would do. At
// port 1 nobody listens. What comes later in an environment counts.
var deaf = []string{
	"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1",
	"ALL_PROXY=http://127.0.0.1:1", "all_proxy=http://127.0.0.1:1", "NO_PROXY=", "no_proxy=",
	"COLUMNS=10000", // no line is broken
	"NO_COLOR=1", "LC_ALL=C",
}
