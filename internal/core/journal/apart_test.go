package journal_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Two runs that go on from the same one know nothing of each other.
func TestRunsThatPartShareNothing(t *testing.T) {
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 17))
		common, one, other := odd(dice), odd(dice), odd(dice)
		for i := range other {
			other[i].Event = apart(other[i].Event)
		}
		want := journal.Fold(oneByOne(common), one...)
		prefix := oneByOne(common)
		got := journal.Fold(prefix, one...)
		_ = journal.Fold(prefix, other...)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("seed %d: one run changed the other (-before +after):\n%s", seed, cmp.Diff(want, got))
		}
	}
}

// The lists of an open iteration grow, too.
func TestListsThatGrowApart(t *testing.T) {
	for _, event := range []journal.Event{journal.CheckEnded{Where: journal.AtWork}, journal.SCMEnded{}} {
		common := minutely(began(), journal.IterationBegan{Number: 1}, event, event, event)
		got := journal.Fold(common, journal.Entry{At: noon, Event: event})
		_ = journal.Fold(common, journal.Entry{At: noon, Event: apart(event)})
		want := minutely(began(), journal.IterationBegan{Number: 1}, event, event, event, event)
		if diff := cmp.Diff(want.Iterations[0].Checks, got.Iterations[0].Checks); diff != "" {
			t.Errorf("another run changed this one (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(want.Iterations[0].SCM, got.Iterations[0].SCM); diff != "" {
			t.Errorf("another run changed this one (-before +after):\n%s", diff)
		}
	}
}

func oneByOne(entries []journal.Entry) journal.Run {
	var run journal.Run
	for _, entry := range entries {
		run = journal.Fold(run, entry)
	}
	return run
}

// apart returns the event with another text, so that it differs from others of its type.
func apart(event journal.Event) journal.Event {
	changed := reflect.New(reflect.TypeOf(event)).Elem()
	changed.Set(reflect.ValueOf(event))
	for _, name := range []string{"What", "Name", "Why", "Message", "Aside"} {
		if field := changed.FieldByName(name); field.Kind() == reflect.String {
			field.SetString("apart")
		}
	}
	return changed.Interface().(journal.Event) //nolint:forcetypeassert // of the event's own type
}
