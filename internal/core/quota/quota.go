// Package quota enforces the limits of a repository: dollars a day, parallel runs, open pull requests. It takes the
// ledger and a request, and returns a decision. Callers store the ledger and pass the time.
package quota

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Ref is the ref of a repository's book, and File its name there.
const (
	Ref  = "refs/ralph/ledger"
	File = "ledger.json"
)

// Limits are those of a repository. 0 means no limit.
type Limits struct {
	USD   float64 // within a day
	Runs  int     // at once
	Pulls int     // of ralph's that are open
}

// Default returns the limits that a workflow can change.
func Default() Limits { return Limits{USD: 25, Runs: 3, Pulls: 5} }

const day = 24 * time.Hour // for which spending counts. With calendar days, midnight would bring a second budget.

// Entry is the entry of a job.
type Entry struct {
	Job     int64     `json:"job"`               // by GitHub's number
	Attempt int64     `json:"attempt,omitempty"` // at the job, from 1
	Run     string    `json:"run"`
	Page    string    `json:"page,omitempty"`   // of the job's log
	Branch  string    `json:"branch,omitempty"` // for which a pull request may be opened
	Until   time.Time `json:"until"`            // by then it is over, one way or another
	Held    float64   `json:"held"`             // dollars that it may spend
	Spent   *float64  `json:"spent,omitempty"`  // not there while it is at work
}

// Book records a repository's jobs and pull requests.
type Book struct {
	V       int     `json:"v"`
	Entries []Entry `json:"entries"`
	Pulls   []Pull  `json:"pulls,omitempty"` // for good
}

const version = 1

// Read reads a book. An unreadable one is an error, as an empty one would forget costs.
func Read(data []byte) (Book, error) {
	var book Book
	if err := json.Unmarshal(data, &book); err != nil {
		return Book{}, err
	}
	if book.V != version {
		return Book{}, fmt.Errorf("it is of version %d, and this program reads %d", book.V, version)
	}
	return book, nil
}

// Write returns the book as stored.
func (b Book) Write() ([]byte, error) {
	b.V = version
	return json.MarshalIndent(b, "", "  ")
}

// sweep keeps what counts no more for a week: the clock of one machine may be ahead, and removes it for all.
func (b Book) sweep(now time.Time) Book {
	b.Entries = slices.DeleteFunc(slices.Clone(b.Entries), func(e Entry) bool { return !e.counts(now.Add(-6 * day)) })
	return b
}

func (e Entry) counts(now time.Time) bool { return !now.After(e.Until.Add(day)) }

func (e Entry) atWork(now time.Time) bool { return e.Spent == nil && now.Before(e.Until) }

// isOpen reports whether it is the entry of that job and run, and has no end.
func (e Entry) isOpen(job int64, run string) bool {
	return e.Job == job && e.Run == run && e.Spent == nil
}

// cost returns what a job spent, or may have spent if it was killed.
func (e Entry) cost() float64 {
	if e.Spent != nil {
		return *e.Spent
	}
	return e.Held
}

// AtWork returns the active jobs.
func (b Book) AtWork(now time.Time) []Entry {
	return slices.DeleteFunc(slices.Clone(b.Entries), func(e Entry) bool { return !e.atWork(now) })
}

// endEarlier ends what e's job did before: earlier attempts, as GitHub starts the next after one has ended, and an
// earlier start of the same run, which was killed. Only a second try to enter e has its time.
func (b Book) endEarlier(e Entry, now time.Time) Book {
	for _, old := range b.Entries {
		killed := old.Run == e.Run && !old.Until.Equal(e.Until)
		if old.Job == e.Job && (old.Attempt < e.Attempt || killed) {
			b = b.End(old.Job, old.Run, nil, now)
		}
	}
	return b
}

// End enters the end of a job and its cost. If that is unknown, all that it reserved counts.
func (b Book) End(job int64, run string, spent *float64, now time.Time) Book {
	b.Entries = slices.Clone(b.Entries)
	for i, e := range b.Entries {
		if !e.isOpen(job, run) {
			continue
		}
		if spent == nil {
			spent = &e.Held
		}
		b.Entries[i].Spent = spent
		b.Entries[i].Until = now
	}
	return b
}
