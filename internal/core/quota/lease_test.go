package quota_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/quota"
)

// A job works on a task unless another holds it, and no lease holds for ever.
func TestLeaseKeeps(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"another job's":       {`{"job": 7, "until": "2026-11-22T12:00:01Z"}`, true},
		"another's, and over": {`{"job": 7, "until": "2026-11-22T12:00:00Z"}`, false},
		"its own":             {`{"job": 9, "until": "2026-11-22T13:00:00Z"}`, false},
		"something else":      {`{"job": "7", "until": "2026-11-22T13:00:00Z"}`, false},
	} {
		if got := quota.ReadLease([]byte(c.text)).Keeps(9, now); got != c.want {
			t.Errorf("%s: Keeps = %t, want %t", name, got, c.want)
		}
	}
}

func TestLeaseFor(t *testing.T) {
	check := policy.Check{Timeout: policy.Duration(10 * time.Minute)}
	for name, c := range map[string]struct {
		iteration time.Duration
		checks    []policy.Check
		setup     []policy.Check
		reviewer  string
		want      time.Duration
	}{
		"no limit of an iteration":        {0, nil, nil, "", 6 * time.Hour},
		"an hour, and no check":           {time.Hour, nil, nil, "", 70 * time.Minute},
		"an hour, a check and a setup":    {time.Hour, []policy.Check{check}, []policy.Check{check}, "", 130 * time.Minute},
		"an hour, and a second opinion":   {time.Hour, nil, nil, "codex", 130 * time.Minute},
		"a check without a limit of time": {time.Hour, []policy.Check{{}}, nil, "", 6 * time.Hour},
		"longer than a job":               {6 * time.Hour, nil, nil, "", 6 * time.Hour},
	} {
		p := policy.Policy{Checks: c.checks, Setup: c.setup, Review: policy.Review{Agent: c.reviewer}}
		p.Limits.Iteration = policy.Duration(c.iteration)
		if got := quota.LeaseFor(p); got != c.want {
			t.Errorf("%s: LeaseFor = %s, want %s", name, got, c.want)
		}
	}
}
