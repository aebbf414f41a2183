package tamper

import "slices"

// pair is a test and what has become of it.
type pair struct {
	was, now   *test
	both       []aligned
	lost, rest []check // those of was and of now that have no partner
}

// matched finds for each test what has become of it: first by place and name,
// then by name, then by what it says. What is left over on either side is gone
// or new.
func matched(was, now []*test, strict bool) (pairs []pair, gone, fresh []*test) {
	gone, fresh = slices.Clone(was), slices.Clone(now)
	for _, by := range []func(*test) string{
		(*test).key,
		func(t *test) string { return t.page.path + "\x00" + t.name },
		func(t *test) string { return t.group + "\x00" + t.name },
		func(t *test) string { return t.name },
	} {
		var found []pair
		found, gone, fresh = byKey(gone, fresh, by)
		pairs = append(pairs, found...)
	}
	found, gone, fresh := byWords(gone, fresh, strict)
	return append(pairs, found...), gone, fresh
}

func byKey(was, now []*test, key func(*test) string) (pairs []pair, gone, fresh []*test) {
	there := map[string][]*test{}
	for _, t := range now {
		there[key(t)] = append(there[key(t)], t)
	}
	taken := map[*test]bool{}
	for _, t := range was {
		same := there[key(t)]
		if len(same) == 0 || same[0].page.language != t.page.language {
			gone = append(gone, t)
			continue
		}
		pairs = append(pairs, pair{was: t, now: same[0]})
		taken[same[0]] = true
		there[key(t)] = same[1:]
	}
	for _, t := range now {
		if !taken[t] {
			fresh = append(fresh, t)
		}
	}
	return pairs, gone, fresh
}

const (
	alike   = 0.55 // two tests
	maxWork = 4 << 20
)

// byWords pairs tests that say much the same; where likeness counts for
// nothing, with the same values at the least.
func byWords(was, now []*test, strict bool) (pairs []pair, gone, fresh []*test) {
	work := 0
	for _, t := range was {
		work += len(t.words) * len(now)
	}
	if work > maxWork {
		return nil, was, now
	}
	bags := make([]bag, len(now))
	for i, t := range now {
		bags[i] = bagOf(t.words)
	}
	var all []likely
	for a, t := range was {
		own := bagOf(t.words)
		for b, other := range now {
			how := own.likeness(bags[b])
			if strict && !values(t.words).within(bags[b]) {
				continue
			}
			if how >= alike && own.size() > 0 && other.page.language == t.page.language {
				all = append(all, likely{a, b, how})
			}
		}
	}
	married, left, right := marry(len(was), len(now), all)
	for _, l := range married {
		pairs = append(pairs, pair{was: was[l.a], now: now[l.b]})
	}
	return pairs, chosen(was, left), chosen(now, right)
}
