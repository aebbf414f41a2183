package main_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// posts returns a call that makes something, with such words.
func posts(path, body string) func(*http.Request, string) bool {
	return func(r *http.Request, text string) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, path) && strings.Contains(text, body)
	}
}

// mends is who does what is left when a job was killed after its run: the job's last
// step, or the same job, run again.
var mends = map[string]func(*scene){
	"finish": func(s *scene) { s.finish("") },
	"again": func(s *scene) {
		if code := s.end(s.begin()); code != 0 {
			s.t.Errorf("exit %d, want 0", code)
		}
	},
}

// killedAfterward kills the program in what it does once its run has ended, and has it done:
// people see what they see without that.
func killedAfterward(t *testing.T, fresh func(*testing.T) *scene, ways map[string]func(*scene), seen func(*scene)) {
	t.Helper()
	plain := fresh(t)
	if code := plain.end(plain.begin()); code != 0 {
		t.Fatalf("exit %d, want 0", code)
	}
	seen(plain)
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		for _, who := range slices.Sorted(maps.Keys(mends)) {
			t.Run(name+", "+who, func(t *testing.T) {
				t.Parallel()
				s := fresh(t)
				ways[name](s)
				mends[who](s)
				seen(s)
			})
		}
	}
}

// TestKillAfterAReview does so where a thread is answered.
func TestKillAfterAReview(t *testing.T) {
	t.Parallel()
	at := func(c call) func(*scene) { return func(s *scene) { s.killedAtCall(c) } }
	reply := posts("/replies", "")
	killedAfterward(t, newReviewScene, map[string]func(*scene){
		"at the answer":        at(call{match: reply}),
		"at the answer, given": at(call{match: reply, done: true}),
		"at the reaction":      at(call{match: posts("/reactions", "rocket")}),
	}, (*scene).answered)
}

// TestKillAtTheCost kills the program where it enters what the run cost: the same job, run again, enters it once.
func TestKillAtTheCost(t *testing.T) {
	t.Parallel()
	for name, done := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPricedReview(t)
			s.killedAtPush(pushKill{ref: quota.Ref, nth: 2, done: done})
			mends["again"](s)
			s.answered()
			book, err := quota.Read([]byte(s.must("show", quota.Ref+":"+quota.File)))
			if err != nil || len(book.Pulls) != 1 {
				t.Fatalf("the ledger is %+v: %v", book, err)
			}
			runs := book.Pulls[0].Runs
			if last := runs[len(runs)-1]; last.ID != s.run().ID || last.USD == nil || *last.USD != 0.25 {
				t.Errorf("the ledger's runs are %+v, want that %s cost 0.25 dollars", runs, s.run().ID)
			}
			for _, e := range book.Entries {
				if e.Spent == nil {
					t.Errorf("%+v is at work for the ledger", e)
				}
			}
		})
	}
}

// newPricedReview returns a review on which an agent works at a price.
func newPricedReview(t *testing.T) *scene {
	t.Helper()
	s := newReviewScene(t)
	const agents = "-- 1/run --\n[ -f mended ] || { echo mended | tee mended >work; git add work mended; git commit -qm 'feat: work'; }\n-- 1/cost --\nusd: 0.25\n-- 1/claim --\nUS-001: done\n"
	if err := write(s.path("script.txtar"), []byte(agents)); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "INPUT_MAX-COST-PER-DAY=25", "SET_review.agent=") // whose cost is unknown
	return s
}

// TestKillAfterAQuestion does so where the agent asks: people get one comment.
func TestKillAfterAQuestion(t *testing.T) {
	t.Parallel()
	question := posts("/comments", "ralph asks")
	killedAfterward(t, func(t *testing.T) *scene {
		t.Helper()
		return newScene(t, func(s *scene) {
			if err := write(s.path("script.txtar"), []byte("-- 1/say --\n<question>Hi or Hello?</question>\n-- 2/say --\n<question>Hi or Hello?</question>\n")); err != nil {
				t.Fatal(err)
			}
		})
	}, map[string]func(*scene){
		"at the question":        func(s *scene) { s.killedAtCall(call{match: question}) },
		"at the question, asked": func(s *scene) { s.killedAtCall(call{match: question, done: true}) },
		"at the reaction": func(s *scene) {
			s.killedAtCall(call{match: posts("/reactions", "confused")})
		},
	}, func(s *scene) {
		asked := 0
		for _, c := range s.Comments(shop, s.issue) {
			if strings.Contains(c.Body, "**ralph asks:** Hi or Hello?") {
				asked++
			}
		}
		if asked != 1 {
			s.t.Errorf("comments %+v, want the question once", s.Comments(shop, s.issue))
		}
	})
}

// What GitHub did not take from the last two updates of a run is shown once more.
func TestLostLastUpdates(t *testing.T) {
	t.Parallel()
	s := newRedScene(t)
	// Each update is tried three times.
	s.Inject(githubtest.Fault{Method: http.MethodPatch, Status: http.StatusBadGateway, Times: 2 * 3, Match: func(r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err == nil && strings.Contains(r.URL.Path, "/comments/") && bytes.Contains(body, []byte("Ready for review"))
	}})
	if code := s.end(s.begin()); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	if shown := s.shown(); !strings.Contains(shown, "Ready for review") {
		t.Errorf("the comment says %q, want how the run ended", shown)
	}
}

// A kill around the record of a hand-over that put a protected file back changes nothing: people
// read that the agent changed the file, and the pull request stays a draft without it.
func TestKillWhileAProtectedFileIsPutBack(t *testing.T) {
	t.Parallel()
	for _, d := range []death{{Event: "plan_read", Nth: 1, Late: true}, {Event: "commits_taken", Nth: 1}} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, func(s *scene) {
				const agents = "-- 1/write/.github/workflows/ci.yml --\non: push\n-- 1/write/one --\n1\n-- 1/claim --\nUS-001: done\n-- 1/commit --\nfeat: one\n" +
					"-- 2/write/two --\n2\n-- 2/claim --\nUS-002: done\n-- 2/commit --\nfeat: two\n"
				if err := write(s.path("script.txtar"), []byte(agents)); err != nil {
					t.Fatal(err)
				}
				s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Title, i.Body = "Count", "- [ ] One\n- [ ] Two\n" })
			})
			s.env = append(s.env, "SET_proof=unbroken")
			s.killed(d)
			if code := s.end(s.begin()); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			pulls := s.Pulls(shop)
			if len(pulls) != 1 || !pulls[0].Draft || !strings.Contains(pulls[0].Body, "restored: `.github/workflows/ci.yml`") {
				t.Errorf("pull requests %+v, want a draft that names the file", pulls)
			}
			if got := s.files(s.run().Branch); !slices.Contains(got, "two") || slices.Contains(got, ".github/workflows/ci.yml") {
				t.Errorf("files %v, want the work without the protected file", got)
			}
			if got := s.messages(); !slices.Equal(got, []string{"feat: one", "feat: two"}) {
				t.Errorf("commits %q, want those of the agent", got)
			}
		})
	}
}
