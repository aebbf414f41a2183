package confine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// logins are the user's logins in a new home. Tokens that change on one side are brought to the other.
type logins struct {
	pairs  []pair
	stop   chan struct{}
	served sync.WaitGroup
}

// pair is a login on both sides.
type pair struct {
	User, Own     string
	Fields        []string
	UserAt, OwnAt time.Time // of the changes that the other side has
}

const mostLogin = 1 << 20

// lookEvery is how often both sides are compared.
const lookEvery = 500 * time.Millisecond

// bring copies what an agent needs of the user's home into a new one.
func bring(files []agent.HomeFile, home string) (*logins, error) {
	l := &logins{stop: make(chan struct{})}
	for _, file := range files {
		from, err := filepath.EvalSymlinks(file.From) // a link of the user's stays one
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		at := modified(from)
		own := filepath.Join(home, file.File)
		text, err := untrusted.ReadFile(from, mostLogin)
		if err != nil {
			return l, err
		}
		if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
			return l, err
		}
		if err := renameio.WriteFile(own, selected(text, file.Fields), 0o600); err != nil {
			return l, err
		}
		if file.IsLogin {
			l.pairs = append(l.pairs, pair{User: from, Own: own, Fields: file.Fields, UserAt: at, OwnAt: modified(own)})
		}
	}
	l.served.Go(l.watch)
	return l, nil
}

func (l *logins) watch() {
	for {
		select {
		case <-l.stop:
			return
		case <-time.After(lookEvery):
			l.compare()
		}
	}
}

func (l *logins) compare() {
	for i := range l.pairs {
		l.pairs[i].bringTokens()
	}
}

func (l *logins) close() {
	if l == nil {
		return
	}
	close(l.stop)
	l.served.Wait()
	l.compare()
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// bringTokens brings new tokens to the other side: where both have some, the younger ones. A file that is no longer
// there, or no JSON, is left alone, and no link of those inside is followed.
func (p *pair) bringTokens() {
	dir, err := untrusted.OpenStraight(filepath.Dir(p.Own))
	if err != nil {
		return
	}
	defer dir.Close() //nolint:errcheck // only a handle
	name := filepath.Base(p.Own)
	info, err := dir.Lstat(name)
	userAt := modified(p.User)
	if err != nil || userAt.IsZero() {
		return
	}
	ownAt := info.ModTime()
	ownIsNew := !ownAt.Equal(p.OwnAt)
	usersIsNew := !userAt.Equal(p.UserAt)
	if !ownIsNew && !usersIsNew {
		return
	}
	own, err := dir.ReadFile(name, mostLogin)
	users, failed := untrusted.ReadFile(p.User, mostLogin)
	if err != nil || failed != nil {
		return
	}
	if usersIsNew && (!ownIsNew || userAt.After(ownAt)) {
		if text, changed := withTokens(own, selected(users, p.Fields)); changed {
			temporary := name + ".ralph-new"
			err = dir.WriteFile(temporary, text, 0o600)
			if err == nil {
				err = dir.Rename(temporary, name)
			}
			ownAt = modified(p.Own)
		}
	} else if text, changed := withTokens(users, selected(own, p.Fields)); changed {
		err = renameio.WriteFile(p.User, text, 0o600)
		userAt = modified(p.User)
	}
	if err == nil {
		p.UserAt, p.OwnAt = userAt, ownAt
	}
}

// selected returns some fields of a JSON file; nil: all of it.
func selected(text []byte, fields []string) []byte {
	if fields == nil {
		return text
	}
	all := map[string]json.RawMessage{}
	some := map[string]json.RawMessage{}
	_ = json.Unmarshal(text, &all) // another form has none of them
	for _, name := range fields {
		if value, ok := all[name]; ok {
			some[name] = value
		}
	}
	text, _ = json.Marshal(some) // as it was read
	return text
}

// withTokens returns a login with the tokens of another one, where both have them. Nothing else changes: what an agent
// writes there must not name another server for the user.
func withTokens(login, other []byte) (text []byte, changed bool) {
	var old, newer any
	if decode(login, &old) != nil || decode(other, &newer) != nil {
		return login, false
	}
	if !takeTokens(old, newer) {
		return login, false
	}
	text, err := json.MarshalIndent(old, "", "  ")
	if bytes.HasSuffix(login, []byte("\n")) {
		text = append(text, '\n')
	}
	return text, err == nil
}

func decode(text []byte, to *any) error {
	if !json.Valid(text) { // or more than one value
		return errors.New("no JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // a time in milliseconds stays as it is
	return d.Decode(to)
}

func takeTokens(old, newer any) bool {
	oldFields, ok := old.(map[string]any)
	if !ok {
		return false
	}
	newFields, ok := newer.(map[string]any)
	if !ok {
		return false
	}
	changed := false
	for name, value := range oldFields {
		other := newFields[name]
		switch {
		case !isToken(name) || !canReplace(value, other):
			changed = takeTokens(value, other) || changed
		case value != other:
			oldFields[name] = other
			changed = true
		}
	}
	return changed
}

// canReplace reports whether two values are numbers or lines of text, and no address. Not each program can read 1e999.
func canReplace(old, newer any) bool {
	switch old := old.(type) {
	case json.Number:
		number, ok := newer.(json.Number)
		_, err := number.Float64()
		return ok && err == nil
	case string:
		text, ok := newer.(string)
		if !ok || text == "" {
			return false
		}
		return !strings.Contains(old+text, "://") && !strings.ContainsFunc(text, unicode.IsControl)
	}
	return false
}

// isToken reports names such as accessToken, refresh, id_token, expiry_date and last_refresh, and not token_uri.
func isToken(name string) bool {
	has := func(word string) bool { return strings.Contains(strings.ToLower(name), word) }
	return slices.ContainsFunc([]string{"token", "access", "refresh", "expir"}, has) &&
		!slices.ContainsFunc([]string{"url", "uri", "host", "endpoint", "server"}, has)
}
