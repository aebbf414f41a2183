package clean_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

// shown is a page as GitHub's filters get it: rendered, raw HTML and all.
type shown struct {
	root *nethtml.Node
}

// GitHub takes fewer characters for a part of an email address than goldmark does.
var email = regexp.MustCompile(`^[a-zA-Z0-9._+-]+@[a-zA-Z0-9_-]+(?:\.[a-zA-Z0-9_-]+)+`)

var github = goldmark.New(goldmark.WithRendererOptions(html.WithUnsafe()), goldmark.WithExtensions(
	extension.NewLinkify(extension.WithLinkifyEmailRegexp(email)), extension.Table, extension.Strikethrough, extension.TaskList))

func render(t *testing.T, markdown string) shown {
	t.Helper()
	var out bytes.Buffer
	if err := github.Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	root, err := nethtml.Parse(&out)
	if err != nil { // at 512 elements in each other this parser ends; browsers show what follows
		return shown{&nethtml.Node{}}
	}
	return shown{root}
}

func (s shown) each(visit func(n *nethtml.Node, quiet bool)) {
	var walk func(n *nethtml.Node, quiet bool)
	walk = func(n *nethtml.Node, quiet bool) {
		visit(n, quiet)
		quiet = quiet || n.Data == "code" || n.Data == "pre" || n.Data == "a"
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, quiet)
		}
	}
	walk(s.root, false)
}

// What GitHub's filters look for in text nodes, drawn wider than theirs.
var (
	mention      = regexp.MustCompile(`(?:^|[^A-Za-z0-9])@[A-Za-z0-9]`)
	reference    = regexp.MustCompile(`#[0-9]|(?i:(?:^|[^a-z0-9])gh-[0-9])`)
	issueAddress = regexp.MustCompile(`(?i)^(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[0-9]+)?/[\w.-]+/[\w.-]+/(issues|pull|discussions|commit)/`)
	element      = regexp.MustCompile(`^(html|head|body|p|a|code|pre|em|strong|del|ul|ol|li|h[1-6]|hr|br|blockquote|table|thead|tbody|tr|td|th|input)$`)
)

// harms returns what on the page would act on GitHub or leave its place.
func (s shown) harms() []string {
	var found []string
	s.each(func(n *nethtml.Node, quiet bool) {
		switch {
		case n.Type == nethtml.CommentNode:
			found = append(found, "comment "+n.Data)
		case n.Type == nethtml.ElementNode && !element.MatchString(n.Data):
			found = append(found, "element "+n.Data)
		case n.Type == nethtml.ElementNode && n.Data == "a":
			found = append(found, linkHarms(n)...)
		case n.Type == nethtml.TextNode && !quiet && (mention.MatchString(n.Data) || reference.MatchString(n.Data)):
			found = append(found, "text "+n.Data)
		}
	})
	return found
}

var scheme = regexp.MustCompile(`(?i)^(https?|ftp|mailto):`)

func linkHarms(n *nethtml.Node) []string {
	var found []string
	for _, a := range n.Attr {
		if a.Key == "title" || a.Key == "href" && (!scheme.MatchString(a.Val) || issueAddress.MatchString(a.Val)) {
			found = append(found, a.Key+" "+a.Val)
		}
	}
	return found
}

// topLevel reports whether words are a paragraph of their own.
func (s shown) topLevel(words string) bool { return s.holds("p", words, "body") }

// cell reports whether words are a table's cell of their own.
func (s shown) cell(words string) bool { return s.holds("td", words, "tr") }

func (s shown) holds(tag, words, parent string) bool {
	found := false
	s.each(func(n *nethtml.Node, _ bool) {
		if n.Type == nethtml.TextNode && strings.TrimSpace(n.Data) == words && n.Parent.Data == tag && n.Parent.Parent.Data == parent {
			found = true
		}
	})
	return found
}

// hidden returns what the page holds and does not show.
func (s shown) hidden() []string {
	var found []string
	s.each(func(n *nethtml.Node, _ bool) {
		if n.Type == nethtml.CommentNode {
			found = append(found, "comment "+n.Data)
		}
		if n.Type == nethtml.ElementNode {
			found = append(found, hiddenAttributes(n)...)
		}
	})
	return found
}

func hiddenAttributes(n *nethtml.Node) []string {
	var found []string
	for _, a := range n.Attr {
		// The renderer aligns a table's cells by style.
		style := a.Key == "style" && !strings.HasPrefix(a.Val, "text-align")
		words := (a.Key == "title" || a.Key == "alt") && a.Val != ""
		if words || a.Key == "hidden" || style {
			found = append(found, a.Key+" "+a.Val)
		}
	}
	return found
}
