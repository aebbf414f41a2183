package attachment

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/ralph-loop/ralph/internal/clean"
)

// shownAddresses returns the addresses that a page shows a person: of pictures, and of
// links with a text or a picture. Others could hand over a file that only the agent sees.
func shownAddresses(page string) (all []string) {
	link, small := "", 0
	show := func(address string) {
		if address != "" && small <= clean.MaxSmall {
			all = append(all, address)
		}
	}
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		t := z.Token()
		switch {
		case kind == html.ErrorToken || t.Data == "rp": // browsers show nothing of it
			return all
		case kind == html.TextToken && strings.TrimSpace(clean.Visible(t.Data)) != "":
			show(link)
			link = ""
		case kind == html.EndTagToken && t.Data == "a":
			link = ""
		case kind == html.EndTagToken:
			small = max(0, small-step(t.Data))
		case t.Data == "a":
			link = attribute(t, "href")
		case kind == html.StartTagToken || kind == html.SelfClosingTagToken:
			small += step(t.Data)
			if source := attribute(t, "src"); source != "" && !isTiny(t) {
				show(link)
				show(source)
				link = ""
			}
		}
	}
}

const minSide = 20 // pixels

func step(name string) int {
	if clean.IsSmall(name) {
		return 1
	}
	return 0
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func isTiny(t html.Token) bool {
	for _, side := range []string{"width", "height"} {
		if n, err := strconv.Atoi(strings.TrimRight(attribute(t, side), "px% ")); err == nil && n < minSide {
			return true
		}
	}
	return false
}
