package github_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
)

// relayed returns what happened to an issue with that text.
func relayed(body, said string) github.Relayed {
	return github.Relayed{ID: "1", Trigger: trigger.Trigger{
		Event: "issue_comment", Action: "created", Issue: trigger.Issue{Number: 1, Body: body, State: "open"},
		Comment: trigger.Comment{ID: 7, Body: said}, Sender: trigger.Sender{Login: "mia"},
	}}
}

// arrives reads what a job gets of it.
func arrives(t *testing.T, r github.Relayed) github.Relayed {
	t.Helper()
	text, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	if n := utf8.RuneCountInString(text); n > 60_000 {
		t.Errorf("it has %d characters", n)
	}
	payload, err := json.Marshal(map[string]any{"inputs": map[string]string{"delivery": text}})
	if err != nil {
		t.Fatal(err)
	}
	got, is, err := github.ReadRelayed(payload)
	if err != nil || !is {
		t.Fatalf("ReadRelayed = %t, %v", is, err)
	}
	return got
}

// A delivery arrives as it was sent, without the text of the issue, which the job reads anew.
func TestADeliveryArrivesAsItWasSent(t *testing.T) {
	for name, said := range map[string]string{
		"short":                "/ralph -- It is <b>missing</b> & \"gone\".\n",
		"as long as it may be": strings.Repeat("<ä>", 19_000),
	} {
		if diff := cmp.Diff(relayed("", said), arrives(t, relayed(strings.Repeat("line\n", 11_900), said))); diff != "" {
			t.Errorf("%s (-want +arrived)\n%s", name, diff)
		}
	}
}

func TestACommentThatIsTooLongIsNotSent(t *testing.T) {
	if text, err := relayed("", strings.Repeat("x", 60_000)).Text(); !errors.Is(err, github.Refused) {
		t.Errorf("Text = %d bytes, %v", len(text), err)
	}
}

func TestWhatIsNoDelivery(t *testing.T) {
	for text, is := range map[string]bool{
		``: false, `{}`: false, `{"inputs":null}`: false, `{"inputs":{"delivery":""}}`: false, `{"inputs":{"delivery":7}}`: false,
		`{"inputs":{"delivery":"{"}}`:                                           true,
		`{"inputs":{"delivery":"{}"}}`:                                          true,
		`{"inputs":{"delivery":"{\"id\":\"1\"}"}}`:                              true,
		`{"inputs":{"delivery":"{\"trigger\":{\"Event\":\"issues\"}}"}}`:        true,
		`{"inputs":{"delivery":"{\"id\":\"1\",\"trigger\":{\"Event\":\"x\"}"}}`: true,
	} {
		if _, got, err := github.ReadRelayed([]byte(text)); got != is || got != (err != nil) {
			t.Errorf("ReadRelayed(%s) = %t, %v, want %t", text, got, err, is)
		}
	}
}

// FuzzReadRelayed holds that a delivery is refused, or starts something and arrives as it is
// when it is sent on.
func FuzzReadRelayed(f *testing.F) {
	for _, r := range []github.Relayed{relayed("It is <b>missing</b> & \"gone\".\n", "/ralph"), {ID: "1", Trigger: trigger.Trigger{Event: "push"}}} {
		text, err := r.Text()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add(`{"id":"1","trigger":{"Event":"issues","At":"yesterday"}}`)
	f.Add(`{"id":"1","trigger":{"Event":"issues","Issue":{"Number":1e999}}}`)
	f.Add("{\"id\":\"1\",\"trigger\":{\"event\":\"issues\",\"Event\":\"issue_comment\",\"Issue\":{\"Body\":\"\xff\\ud800\"}}}")
	f.Fuzz(func(t *testing.T, delivery string) {
		payload, err := json.Marshal(map[string]any{"inputs": map[string]string{"delivery": delivery}})
		if err != nil {
			t.Fatal(err)
		}
		got, is, err := github.ReadRelayed(payload)
		if is != (delivery != "") || err != nil || !is {
			if is != (delivery != "") {
				t.Errorf("a delivery: %t", is)
			}
			return
		}
		if got.ID == "" || !trigger.CanStartWork(got.Trigger.Event) && !got.Trigger.IsCI() {
			t.Errorf("%+v starts nothing", got)
		}
		if _, err := got.Text(); err != nil {
			return // too long
		}
		sent := got
		sent.Trigger.Issue.Body = ""
		if diff := cmp.Diff(sent, arrives(t, got)); diff != "" {
			t.Errorf("(-read +sent on)\n%s", diff)
		}
	})
}
