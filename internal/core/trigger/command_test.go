package trigger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
)

type (
	parseCommand = trigger.Command
	readCommand  = trigger.Flags
)

// understood checks the commands of comments.
func understood(t *testing.T, comments map[string]parseCommand) {
	t.Helper()
	for body, want := range comments {
		t.Run(body, func(t *testing.T) {
			got, why := trigger.CommandOf(commentEvent(body), trigger.Rules{})
			if why != "" {
				t.Fatalf("Want refuses: %s", why)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommandsInAComment(t *testing.T) {
	understood(t, map[string]parseCommand{
		"/ralph":                                {Verb: trigger.Run},
		"/Ralph RUN":                            {Verb: trigger.Run},
		"/ralph\r\nUse Go.\r\nNo cgo.":          {Verb: trigger.Run, Words: "Use Go.\r\nNo cgo."},
		"/ralph run and mind the tests\nplease": {Verb: trigger.Run, Words: "and mind the tests\nplease"},
		"/ralph run -- --force is a word here":  {Verb: trigger.Run, Words: "--force is a word here"},
		"/ralph -- don't; $HOME | `x`":          {Verb: trigger.Run, Words: "don't; $HOME | `x`"},
		"/ralph resume with care":               {Verb: trigger.Resume, Words: "with care"},
		"/ralph stop\nnow":                      {Verb: trigger.Stop, Words: "now"},
		"/ralph rnu":                            {Verb: trigger.Help, Said: "rnu", Nearest: "run"},
		"/ralph run - slowly":                   {Verb: trigger.Run, Words: "- slowly"},
		"/ralph please fix it":                  {Verb: trigger.Help, Said: "please", Words: "fix it"},
		"/ralph retry":                          {Verb: trigger.Retry},
		"/ralph retry US-003":                   {Verb: trigger.Retry, Story: "US-003"},
		"/ralph retry US-003 -- use a map":      {Verb: trigger.Retry, Story: "US-003", Words: "use a map"},
	})
}

// Commands as phones and mail programs write them, and polite ones.
func TestOddCommands(t *testing.T) {
	understood(t, map[string]parseCommand{
		"/ralph\u00a0stop":              {Verb: trigger.Stop},
		"/ralph: stop":                  {Verb: trigger.Stop},
		"/ralph, stop, please":          {Verb: trigger.Stop, Words: "please"},
		"/ralph stop.":                  {Verb: trigger.Stop},
		"/ralph!":                       {Verb: trigger.Run},
		"/ralph?":                       {Verb: trigger.Help, Said: "?"},
		"/ralph retry US-003, please":   {Verb: trigger.Retry, Story: "US-003", Words: "please"},
		"/ralph cancel":                 {Verb: trigger.Help, Said: "cancel"},
		"/ralph --model “opus” --draft": {Verb: trigger.Run, Flags: readCommand{Model: "opus", Draft: true}},
		"/ralph --max-cost=‘2’ -- don’t “hurry”":  {Verb: trigger.Run, Flags: readCommand{CostUSD: 2}, Words: "don’t “hurry”"},
		"/ralph --model “opus":                    {Verb: trigger.Help, Said: "--model", Why: name},
		"/ralph\n```\n/ralph stop\n```\nis wrong": {Verb: trigger.Run, Words: "```\n/ralph stop\n```\nis wrong"},
	})
}

func TestFlagsInAComment(t *testing.T) {
	understood(t, map[string]parseCommand{
		"/ralph run --max-iterations 3":  {Verb: trigger.Run, Flags: readCommand{Iterations: 3}},
		"/ralph run --max-iterations=3":  {Verb: trigger.Run, Flags: readCommand{Iterations: 3}},
		"/ralph --max-cost $2.50":        {Verb: trigger.Run, Flags: readCommand{CostUSD: 2.5}},
		"/ralph --max-time 1h30m":        {Verb: trigger.Run, Flags: readCommand{Run: policy.Duration(90 * time.Minute)}},
		"/ralph --iteration-timeout 90":  {Verb: trigger.Run, Flags: readCommand{Iteration: policy.Duration(90 * time.Second)}},
		"/ralph resume --stall-after 2":  {Verb: trigger.Resume, Flags: readCommand{Stall: 2}},
		"/ralph run --draft gently -n":   {Verb: trigger.Run, Flags: readCommand{Draft: true}, Words: "gently -n"},
		`/ralph --model "opus" --draft`:  {Verb: trigger.Run, Flags: readCommand{Model: "opus", Draft: true}},
		"/ralph --draft\n--draft":        {Verb: trigger.Run, Flags: readCommand{Draft: true}, Words: "--draft"},
		"/ralph retry US-1 --max-cost 1": {Verb: trigger.Retry, Story: "US-1", Flags: readCommand{CostUSD: 1}},
	})
}

const (
	others  = "a comment has no such flag; other options are set in the workflow, where changes are reviewed"
	whole   = "it needs a whole number from 1 up"
	dollars = "it needs an amount of dollars above 0"
	while   = "it needs a duration such as 30m"
	name    = "it needs a model's name"
)

func TestFlagsThatStartNothing(t *testing.T) {
	help := func(said, nearest, why string) parseCommand {
		return parseCommand{Verb: trigger.Help, Said: said, Nearest: nearest, Why: why}
	}
	understood(t, map[string]parseCommand{
		"/ralph run -n 3":               help("-n", "", others),
		"/ralph --max-iteration 3":      help("--max-iteration", "--max-iterations", ""),
		"/ralph —max-iterations 3":      help("—max-iterations", "--max-iterations", ""),
		"/ralph — be gentle":            help("—", "--", ""),
		"/ralph status --all":           help("--all", "", others),
		"/ralph status --draft":         help("status", "", "it takes no flags"),
		"/ralph --max-iterations":       help("--max-iterations", "", whole),
		"/ralph --max-iterations 0":     help("--max-iterations", "", whole),
		"/ralph --max-iterations -3":    help("--max-iterations", "", whole),
		"/ralph --max-cost 0":           help("--max-cost", "", dollars),
		"/ralph --max-cost NaN":         help("--max-cost", "", dollars),
		"/ralph --max-time soon":        help("--max-time", "", while),
		"/ralph --iteration-timeout -1": help("--iteration-timeout", "", while),
		"/ralph --model --draft":        help("--model", "", name),
		"/ralph --model \"$HOME\"":      help("--model", "", name),
		"/ralph --draft=no":             help("--draft", "", "it takes no value"),
		"/ralph --sandbox none":         help("--sandbox", "", others),
		"/ralph --allow-users me":       help("--allow-users", "", others),
	})
}

func TestFlagsTighten(t *testing.T) {
	base := policy.ForPreset(policy.ByStories)
	base.Model = "opus"
	minute := policy.Duration(time.Minute)
	open := base
	open.Limits = policy.Limits{}
	for said, c := range map[string]struct {
		flags readCommand
		from  policy.Policy
		want  func(*policy.Policy)
		why   string
	}{
		"nothing":             {from: base, want: func(*policy.Policy) {}},
		"fewer iterations":    {flags: readCommand{Iterations: 3}, from: base, want: func(p *policy.Policy) { p.Limits.Iterations = 3 }},
		"more":                {flags: readCommand{Iterations: 11}, from: base, why: "--max-iterations 11: the limit here is 10, and a comment can only lower it"},
		"any where none was":  {flags: readCommand{Iterations: 999}, from: open, want: func(p *policy.Policy) { p.Limits.Iterations = 999 }},
		"less money":          {flags: readCommand{CostUSD: 0.5}, from: base, want: func(p *policy.Policy) { p.Limits.CostUSD = 0.5 }},
		"more money":          {flags: readCommand{CostUSD: 5.01}, from: base, why: "--max-cost 5.01: the limit here is 5, and a comment can only lower it"},
		"less time":           {flags: readCommand{Run: minute, Iteration: minute}, from: base, want: func(p *policy.Policy) { p.Limits.Run, p.Limits.Iteration = minute, minute }},
		"more time":           {flags: readCommand{Run: 300 * minute}, from: base, why: "--max-time 5h: the limit here is 2h, and a comment can only lower it"},
		"more patience":       {flags: readCommand{Stall: 4}, from: base, why: "--stall-after 4: the limit here is 3, and a comment can only lower it"},
		"a model that is had": {flags: readCommand{Model: "haiku"}, from: base, want: func(p *policy.Policy) { p.Model = "haiku" }},
		"another model":       {flags: readCommand{Model: "sonnet"}, from: base, why: "--model sonnet: it is neither the workflow's model nor one of `sandbox.allowModels`"},
		"a draft":             {flags: readCommand{Draft: true}, from: base, want: func(p *policy.Policy) { p.Draft = true }},
	} {
		t.Run(said, func(t *testing.T) {
			asked := parseCommand{Verb: trigger.Run, Flags: c.flags}
			now, got := asked.Tighten(c.from, func(model string) bool { return model == "haiku" })
			if c.why != "" {
				if now.Verb != trigger.Help || now.Said+": "+now.Why != c.why {
					t.Errorf("Tighten: %+v, want %q", now, c.why)
				}
				return
			}
			want := c.from
			c.want(&want)
			if diff := cmp.Diff(want, got); diff != "" || now != asked {
				t.Errorf("Tighten: %+v, (-want +got):\n%s", now, diff)
			}
		})
	}
}

// Any comment is a known command that raises no limit, or no command.
func FuzzCommand(f *testing.F) {
	for _, body := range []string{
		"/ralph", "/ralph run --max-cost=2 -- x", "/ralph --model 'a", "/ralph — x", "/ralph retry US-1 --draft y", "/ralph --x=\"\\", "/ralph --max-time=1h\r\nmore", "/ralph --mAX-Cost 0",
	} {
		f.Add(body)
	}
	most := policy.ForPreset(policy.ByStories)
	f.Fuzz(func(t *testing.T, body string) {
		got, why := trigger.CommandOf(commentEvent(body), trigger.Rules{})
		if why != "" {
			return
		}
		if got.Verb == "" {
			t.Errorf("the verb is %q", got.Verb)
		}
		if (got.Said != "" || got.Why != "") && got.Verb != trigger.Help {
			t.Errorf("misunderstood, and begun: %+v", got)
		}
		if !strings.Contains(strings.ToLower(body), strings.ToLower(got.Said)) || !strings.Contains(body, got.Story) {
			t.Errorf("%+v has words that are not in the comment", got)
		}
		now, p := got.Tighten(most, func(string) bool { return false })
		if now == got && (p.Limits.Iterations > most.Limits.Iterations || p.Limits.Iterations < 1 || !(p.Limits.CostUSD > 0 && p.Limits.CostUSD <= most.Limits.CostUSD) ||
			p.Limits.Run > most.Limits.Run || p.Limits.Run <= 0 || p.Limits.Iteration > most.Limits.Iteration || p.Limits.Stall > most.Limits.Stall) {
			t.Errorf("%q loosens to %+v", body, p.Limits)
		}
	})
}
