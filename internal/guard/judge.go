package guard

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Bounds on what one line can make the judge do, whatever it says.
const (
	maxLine   = 64 << 10  // bytes of shell that are read at once
	maxScript = 256 << 10 // bytes of shell read in all, nested scripts too
	maxParses = 64        // scripts within the script
	maxDepth  = 12        // of scripts in scripts and functions in functions
	maxNest   = 400       // of brackets in brackets
	maxSteps  = 3000      // commands judged
	maxSpent  = 256 << 10 // bytes of variables written out
	maxFields = 1000      // words of a command
	maxRounds = 8         // of a for loop
)

// judge goes over one line. The first finding ends it.
type judge struct {
	place   Place
	found   *Finding
	unread  bool
	steps   int
	parses  int
	read    int
	spent   int
	nest    int
	printed map[*syntax.CmdSubst]stream
	fetched map[string]bool // files that came from the network
	stashed bool            // git stash went before
}

func newJudge(at Place) *judge {
	at.Root, at.Home = folder(at.Root, "/project"), folder(at.Home, "/home/user")
	if at.Dir == "" {
		at.Dir = at.Root
	}
	return &judge{place: at, printed: map[*syntax.CmdSubst]stream{}, fetched: map[string]bool{}}
}

func folder(dir, or string) string {
	if dir = path.Clean("/" + dir); dir == "/" {
		return or
	}
	return dir
}

func (j *judge) verdict() (Finding, bool) {
	if j.found == nil {
		return Finding{}, false
	}
	f := *j.found
	f.Unread = j.unread
	return f, true
}

func (j *judge) report(c Category, what string) { j.reportInstead(c, what, c.instead()) }

func (j *judge) reportInstead(c Category, what, instead string) {
	if j.found == nil {
		j.found = &Finding{Category: c, What: shown(what), Instead: instead}
	}
}

func (j *judge) done() bool {
	j.steps++
	return j.found != nil || j.steps > maxSteps
}

// script judges a text as shell, in the scope that it would run in.
func (j *judge) script(src string, sc *scope, in stream) {
	j.parses++
	j.read += len(src)
	if j.parses > maxParses || j.read > maxScript && j.parses > 1 || sc.depth > maxDepth {
		j.unread = true
		return
	}
	if len(src) > maxLine {
		src = src[:maxLine]
		j.unread = true
	}
	stmts, err := parse(src)
	if err != nil {
		j.unread = true
		j.pieces(src, sc)
		return
	}
	sc.depth++
	defer func() { sc.depth-- }()
	j.stmts(stmts, sc, in)
}

type tooDeep struct{}

func (tooDeep) Error() string { return "too many brackets within brackets" }

var opener = pattern.Of(`[({\x60]|\b(?:if|while|until|for|case|select|time|coproc)\b|!`)

// parse reads shell as bash does. Zero bytes and the marks of this package
// cannot stand in a real command line.
func parse(src string) ([]*syntax.Stmt, error) {
	if len(src) > maxNest && len(opener.FindAllStringIndex(src, maxLine)) > maxNest && deep(src) {
		return nil, tooDeep{}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	if err == nil {
		return file.Stmts, nil
	}
	// A here-document that runs to the end of the line is fine with bash.
	if m := heredoc.FindStringSubmatch(src); m != nil && strings.Contains(err.Error(), "here-document") {
		file, again := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src+"\n"+m[1]+"\n"), "")
		if again == nil {
			return file.Stmts, nil
		}
	}
	return nil, err
}

var heredoc = pattern.Of(`<<-?\s*['"\\]?(\w+)`)

// deep guesses how deep the parser would have to go: openings on one line
// of thought, closings taken off. Words that open are only counted when they
// follow each other closely, as no written script has them.
func deep(src string) bool {
	depth, deepest := 0, 0
	for _, c := range src {
		switch c {
		case '(', '{', '`':
			depth++
		case ')', '}':
			depth = max(0, depth-1)
		}
		deepest = max(deepest, depth)
	}
	return deepest > maxNest || run.MatchString(src)
}

var run = pattern.Of(`(?:(?:\b(?:if|while|until|time|coproc|case\s+\S+\s+in\s+\S+)\b|!)[\s;]*){100}`)

// pieces judges shell that cannot be parsed line by line, and a line that
// cannot be parsed by its words.
func (j *judge) pieces(src string, sc *scope) {
	for i, line := range strings.Split(withoutDocuments(src), "\n") {
		if i > 200 || j.done() {
			return
		}
		stmts, err := parse(line)
		if err == nil {
			j.stmts(stmts, sc, stream{})
			continue
		}
		for _, part := range separators.Split(line, 50) {
			j.guess(part, sc)
		}
	}
}

// guess judges words that stand before the first quote: what is quoted in
// shell that cannot be read is most likely prose.
func (j *judge) guess(part string, sc *scope) {
	if strings.ContainsAny(part, `"'`) && !strings.HasPrefix(strings.TrimSpace(part), `"`) {
		part = part[:strings.IndexAny(part, `"'`)]
	}
	if words := strings.Fields(part); len(words) > 0 && len(words) < maxFields {
		j.run(words, ran{scope: sc})
	}
}

var separators = pattern.Of(`[;&|()]+`)

// withoutDocuments takes the bodies of here-documents out: prose, mostly.
func withoutDocuments(src string) string {
	var kept []string
	end := ""
	for line := range strings.SplitSeq(src, "\n") {
		switch {
		case end != "":
			if strings.TrimSpace(line) == end {
				end = ""
			}
			continue
		case strings.Contains(line, "<<") && !strings.Contains(line, "<<<"):
			if m := heredoc.FindStringSubmatch(line); m != nil {
				end = m[1]
			}
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}
