package merging_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/merging"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// A new run builds on what the one before it proved, with what people pushed since, and not on what that was held for.
func TestWhatANewRunBuildsOn(t *testing.T) {
	r := newRepository(t)
	base := r.commit("base", "base\n")
	sound := r.commit("proven", "proven\n")
	head := r.commit("held", "held\n")
	start := r.commit("theirs", "theirs\n")
	r.call("commit", "-q", "--amend", "-m", "anew")
	anew := r.call("rev-parse", "HEAD")
	r.call("reset", "-q", "--hard", head)
	r.call("commit", "-q", "--allow-empty", "-m", "work", "-m", "Ralph-Run: r2")
	another := r.call("rev-parse", "HEAD")
	r.call("switch", "-q", "--orphan", "other")
	other := r.commit("other", "other\n")
	trusted := r.trusted()
	for name, c := range map[string]struct {
		sound, head, start string
		tamper             policy.Tamper
		want               string
		branch             string // of the last run, if another one
	}{
		"a branch of people":     {sound, head, start, policy.TamperReport, "base held proven theirs", "another"},
		"or of unknown runs":     {sound, head, another, policy.TamperReport, "", "another"},
		"held":                   {sound, head, start, policy.TamperReport, "base proven theirs", ""},
		"no push":                {sound, head, head, policy.TamperReport, "base proven", ""},
		"all is proven":          {head, head, head, policy.TamperReport, "", ""},
		"a push on what is":      {head, head, start, policy.TamperReport, "base held proven theirs", ""},
		"work without a record":  {head, head, another, policy.TamperReport, "", ""},
		"in place of what is":    {head, head, other, policy.TamperReport, "other", ""},
		"nothing is held":        {sound, head, start, policy.TamperAllow, "", ""},
		"tests are not compared": {sound, head, start, "", "", ""},
		"something else":         {sound, head, other, policy.TamperReport, "other", ""},
		"the work is gone":       {sound, strings.Repeat("1", 40), start, policy.TamperReport, "", ""},
		"they made it anew":      {sound, head, anew, policy.TamperReport, "base proven theirs", ""},
		"an old record":          {"", head, start, policy.TamperReport, "", ""},
	} {
		last := journal.Run{Branch: c.branch, Sound: c.sound, Head: c.head, Policy: policy.Policy{Tamper: c.tamper}}
		began, err := merging.Begin(t.Context(), trusted, journal.RunBegan{Base: base, Start: c.start, OntoWork: true}, last)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, ground := range began.Grounds {
			names, err := trusted.Files(t.Context(), ground.Onto.Commit)
			if err != nil {
				t.Fatal(err)
			}
			got = strings.Join(names, " ")
		}
		if got != c.want {
			t.Errorf("%s: builds on %q, want %q", name, got, c.want)
		}
	}
}

// What the run before built on itself may be on no branch.
func TestGroundsOnGrounds(t *testing.T) {
	r := newRepository(t)
	sound := r.commit("base", "base\n")
	pushed := r.commit("open", "open\n")
	theirs := r.commit("theirs", "theirs\n")
	r.call("reset", "-q", "--hard", pushed)
	run := journal.Run{Head: r.commit("newer", "newer\n"), Sound: sound, Branch: "work"}
	joined, err := merging.Join(t.Context(), r.trusted(), run, journal.Joined{Of: journal.OfBranch, With: theirs}, pushed)
	if err != nil || joined.Onto == nil {
		t.Fatalf("%+v, %v", joined, err)
	}
	last := journal.Run{Sound: joined.Onto.Commit, Head: theirs, Grounds: []journal.Joined{joined}, Policy: policy.Policy{Tamper: policy.TamperReport}}
	r.call("reset", "-q", "--hard", theirs)
	trusted := r.trusted() // of another machine
	began, err := merging.Begin(t.Context(), trusted, journal.RunBegan{Base: sound, Start: r.commit("more", "more\n"), OntoWork: true}, last)
	grounds := began.Grounds
	if err != nil || len(grounds) != 2 {
		t.Fatalf("%+v, %v, want what it built on, too", grounds, err)
	}
	names, err := trusted.Files(t.Context(), grounds[1].Onto.Commit)
	if got := strings.Join(names, " "); err != nil || got != "base more theirs" {
		t.Errorf("builds on %q, %v", got, err)
	}
}

// Work that is not proven is the new run's, without what people changed, unless they took it back. What of it hid nothing
// still judges.
func TestWhatIsOpen(t *testing.T) {
	r := newRepository(t)
	base := r.commit("base", "base\n")
	proven := r.commit("proven", "proven\n")
	head := r.commit("open", "open\n")
	theirs := r.commit("theirs", "theirs\n")
	mended := r.commit("open", "mended\n")
	r.call("rm", "-q", "open")
	undone := r.commit("more", "more\n")
	trusted := r.trusted()
	for name, c := range map[string]struct {
		start, onto, already, judges string
		isOpen                       bool
	}{
		"no push": {head, "base proven", "open proven", "base open proven", true},
		"a push":  {theirs, "base proven theirs", "open proven theirs", "base open proven theirs", true},
		"a fix":   {mended, "base proven theirs", "open proven theirs", "base open proven theirs", true},
		"undone":  {undone, "base more proven theirs", "more proven theirs", "", false},
	} {
		asked := journal.RunBegan{Base: base, Start: c.start, OntoWork: true, Open: journal.OpenWork{Since: proven, Stories: []journal.OpenStory{{Title: "It pays"}}, Work: []journal.StoryWork{{To: head}, {To: strings.Repeat("1", 40)}}}}
		asked.Plan.UserStories = []plan.Story{{Title: "It greets"}}
		began, err := merging.Begin(t.Context(), trusted, asked, journal.Run{Sound: head, Head: head})
		if err != nil || len(began.Grounds) != 1 {
			t.Fatalf("%s: %+v, %v", name, began, err)
		}
		names, err := trusted.Files(t.Context(), began.Grounds[0].Onto.Commit)
		if onto := strings.Join(names, " "); err != nil || onto != c.onto || (len(began.Open.Stories) > 0) != c.isOpen || (began.Open.Tree != "") != c.isOpen || c.isOpen && len(began.Open.Work) != 1 {
			t.Errorf("%s: builds on %q, open: %v, %v", name, onto, began.Open, err)
		}
		if already := strings.Join(began.Already, " "); already != c.already {
			t.Errorf("%s: changed before: %q", name, already)
		}
		onto := &journal.Onto{Commit: head}
		for why, last := range map[string]journal.Run{
			"hid nothing":      {Sound: head, Head: head},
			"nor before it":    {Sound: proven, Onto: journal.Onto{Commit: proven}, Open: journal.OpenWork{Judges: []journal.Joined{{From: head, With: head, Sound: head, Onto: onto}}}, Head: head},
			"nothing open did": {Sound: proven, Onto: journal.Onto{Commit: proven}, Head: head},
		} {
			last.Policy.Tamper = policy.TamperBlock
			began, err := merging.Begin(t.Context(), trusted, asked, last)
			judges := ""
			for _, judge := range began.Open.Judges {
				names, failed := trusted.Files(t.Context(), judge.Onto.Commit)
				judges, err = strings.Join(names, " "), errors.Join(err, failed)
			}
			want := c.judges
			if why == "nothing open did" {
				want = ""
			}
			if err != nil || judges != want {
				t.Errorf("%s, %s: judged by %q, %v, want %q", name, why, judges, err, want)
			}
		}
	}
}
