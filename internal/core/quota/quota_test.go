package quota_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/quota"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// at returns an entry that is at work until then.
func at(job int64, branch string, held float64, until time.Time) quota.Entry {
	return quota.Entry{Job: job, Run: "run", Branch: branch, Held: held, Until: until}
}

// gone returns an entry of a job that has spent so much, and ended then.
func gone(job int64, spent float64, ended time.Time) quota.Entry {
	return quota.Entry{Job: job, Run: "run", Held: 5, Spent: &spent, Until: ended}
}

func TestWhoMayBegin(t *testing.T) {
	hour := noon.Add(time.Hour)
	limits := quota.Limits{USD: 25, Runs: 3, Pulls: 2}
	for name, c := range map[string]struct {
		book   []quota.Entry
		open   []string
		held   float64
		branch string
		limits quota.Limits
		want   string // the refusal's beginning; empty: admitted
	}{
		"the third at once":             {book: []quota.Entry{at(1, "", 5, hour), at(2, "", 5, hour)}, held: 5, limits: limits},
		"the fourth":                    {book: []quota.Entry{at(1, "", 5, hour), at(2, "", 5, hour), at(3, "", 5, hour)}, held: 5, limits: limits, want: "3 runs are at work"},
		"one that should be over":       {book: []quota.Entry{at(1, "", 5, hour), at(2, "", 5, hour), at(3, "", 5, noon)}, held: 5, limits: limits},
		"the last of the day":           {book: []quota.Entry{gone(1, 20, noon)}, held: 5, limits: limits},
		"more than is left":             {book: []quota.Entry{gone(1, 20.01, noon)}, held: 5, limits: limits, want: "20.01 of 25.00 dollars a day are spent, and this run may take 5.00: `/ralph --max-cost 4.99` fits"},
		"nothing left":                  {book: []quota.Entry{gone(1, 25, noon)}, held: 5, limits: limits, want: "25.00 of 25.00 dollars a day are spent, and this run may take 5.00: ask again tomorrow"},
		"what others may spend":         {book: []quota.Entry{gone(1, 12, noon), at(2, "", 10, hour)}, held: 5, limits: limits, want: "12.00 of 25.00 dollars a day are spent, or may be by runs at work (10.00), and this run may take 5.00: `/ralph --max-cost 3.00` fits"},
		"an unknown run":                {book: []quota.Entry{at(2, "", 22, noon.Add(-time.Hour))}, held: 5, limits: limits, want: "22.00 of 25.00 dollars a day are spent, and"},
		"what was spent late yesterday": {book: []quota.Entry{gone(1, 25, noon.Add(-24*time.Hour))}, held: 5, limits: limits, want: "25.00 of 25.00"},
		"without an end":                {limits: limits, want: "a run without a limit"},
		"one too many":                  {open: []string{"ralph/a", "ralph/b"}, held: 5, branch: "ralph/c", limits: limits, want: "2 pull requests of ralph's are open already"},
		"one that is there":             {open: []string{"ralph/a", "ralph/b"}, held: 5, branch: "ralph/b", limits: limits},
		"one that may be opened":        {book: []quota.Entry{at(1, "ralph/a", 5, hour)}, open: []string{"ralph/b"}, held: 5, branch: "ralph/c", limits: limits, want: "2 pull requests of ralph's are open already, or about to be"},
		"one that is in it already":     {book: []quota.Entry{at(1, "", 5, hour), at(2, "", 5, hour), at(9, "ralph/a", 15, hour)}, held: 15, branch: "ralph/a", limits: limits},
		"the same one twice":            {book: []quota.Entry{at(1, "ralph/a", 5, hour)}, open: []string{"ralph/a"}, held: 5, branch: "ralph/c", limits: limits},
	} {
		t.Run(name, func(t *testing.T) {
			book := quota.Book{Entries: c.book}
			next, refusal := book.Admit(quota.Candidate{Entry: at(9, c.branch, c.held, hour), Limits: c.limits, Open: c.open}, noon)
			if refusal != nil {
				if said := refusal.String(); c.want == "" || !strings.HasPrefix(said, c.want) || !strings.Contains(said, "` allows more") && !strings.Contains(said, "The input `max-") {
					t.Errorf("refused as %q, want %q and the input", said, c.want)
				}
				return
			}
			if c.want != "" {
				t.Fatalf("admitted, want %q", c.want)
			}
			ours := 0
			for _, e := range next.Entries {
				if e.Job == 9 {
					ours++
				}
			}
			if ours != 1 {
				t.Errorf("it is %d times in %+v", ours, next.Entries)
			}
		})
	}
}

// What is over gives back what it did not spend; of a job that was killed it is
// all gone. Nothing is counted twice.
func TestWhatIsOver(t *testing.T) {
	hour := noon.Add(time.Hour)
	spent := 1.5
	book := quota.Book{Entries: []quota.Entry{at(1, "", 5, hour), at(2, "", 5, hour)}}
	book = book.End(1, "run", &spent, noon).End(2, "run", nil, noon).End(2, "run", &spent, hour).End(7, "run", &spent, noon)
	want := []quota.Entry{gone(1, 1.5, noon), gone(2, 5, noon)}
	if diff := cmp.Diff(want, book.Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if busy := book.AtWork(noon); len(busy) != 0 {
		t.Errorf("at work: %v", busy)
	}
}

// A job that is run again was over before, no matter what it left in the book. Others of
// the same attempt are at work beside it.
func TestAJobThatIsRunAgain(t *testing.T) {
	hour := noon.Add(time.Hour)
	beside, killed, next := at(1, "", 5, hour), at(1, "", 5, hour), at(1, "", 5, hour)
	killed.Attempt, killed.Run = 1, "killed"
	beside.Attempt, beside.Run = 2, "beside"
	next.Attempt, next.Run = 2, "next"
	book := quota.Book{Entries: []quota.Entry{killed, beside}}
	for runs, want := range map[int]bool{1: false, 2: true} {
		got, refusal := book.Admit(quota.Candidate{Entry: next, Limits: quota.Limits{Runs: runs}}, noon)
		if admitted := refusal == nil; admitted != want {
			t.Errorf("%d at once: admitted %t, want %t: %v", runs, admitted, want, refusal)
		}
		if first := got.Entries[0]; first.Spent == nil || *first.Spent != 5 {
			t.Errorf("%d at once: the killed one is %+v, want all of it spent", runs, first)
		}
	}
}

// A run that a later step of its job goes on with was killed in the earlier one: what that held is spent.
func TestARunThatIsGoneOnWithInItsJob(t *testing.T) {
	book := quota.Book{Entries: []quota.Entry{at(1, "", 5, noon.Add(time.Hour))}}
	next := at(1, "", 5, noon.Add(2*time.Hour))
	for _, limit := range []float64{10, 9.99} {
		got, refusal := book.Admit(quota.Candidate{Entry: next, Limits: quota.Limits{USD: limit, Runs: 1}}, noon)
		if admitted := refusal == nil; admitted != (limit == 10) {
			t.Errorf("of $%.2f: admitted %t: %v", limit, admitted, refusal)
		}
		if first := got.Entries[0]; first.Spent == nil || *first.Spent != 5 {
			t.Errorf("the killed one is %+v, want all of it spent", first)
		}
	}
}

// A machine whose clock is ahead takes nothing out of the book that counts for others. What is old goes.
func TestAWrongClockForgetsNothing(t *testing.T) {
	book := quota.Book{Entries: []quota.Entry{gone(1, 20, noon), gone(2, 20, noon.Add(-6*24*time.Hour))}}
	ahead := noon.Add(30 * time.Hour)
	book, refusal := book.Admit(quota.Candidate{Entry: at(3, "", 5, ahead), Limits: quota.Limits{USD: 25}}, ahead)
	if refusal != nil || len(book.Entries) != 2 {
		t.Fatalf("refused: %v; in the book: %+v", refusal, book.Entries)
	}
	if _, refusal := book.Admit(quota.Candidate{Entry: at(4, "", 5, noon), Limits: quota.Limits{USD: 25}}, noon); refusal == nil {
		t.Error("what is spent was forgotten")
	}
}

func TestBooksAreReadAsTheyWereWritten(t *testing.T) {
	book := quota.Book{V: 1, Entries: []quota.Entry{at(1, "ralph/a", 5, noon), gone(2, 0, noon)}}
	text, err := book.Write()
	if err != nil {
		t.Fatal(err)
	}
	got, err := quota.Read(text)
	if diff := cmp.Diff(book, got); diff != "" || err != nil {
		t.Errorf("%v (-written +read):\n%s", err, diff)
	}
	for _, text := range []string{"nonsense", "null", "{}", `{"v":2}`, `{"v":1,"entries":[{"held":"much"}]}`, `{}` + "\n{}"} {
		if _, err := quota.Read([]byte(text)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// A book or a lease that others wrote is refused, or used without a panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"v":1,"entries":[{"job":1,"run":"r","branch":"b","until":"2026-03-04T12:00:00Z","held":1e300,"spent":-1}],"pulls":[{"number":7}]}`))
	f.Add([]byte(`{"job":7,"until":"2026-11-22T12:00:01Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		quota.ReadLease(data).Keeps(1, noon)
		book, err := quota.Read(data)
		if err != nil {
			return
		}
		book.AtWork(noon)
		book, _ = book.Admit(quota.Candidate{Entry: at(1, "b", 1, noon)}, noon)
		text, err := book.Write()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := quota.Read(text); err != nil {
			t.Errorf("what was read is refused when it is written: %v", err)
		}
	})
}
