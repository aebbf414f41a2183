package guard

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Unknown text is replaced by a mark: a variable by its name, the output of a
// command by its kind. So $DIR/x becomes <DIR>/x, and marks keep the origin of a
// text through variables, pipes and files.
const (
	markStart   = "\uE000"
	markEnd     = "\uE001"
	unknownText = markStart + markEnd
	markSpace   = "\u2800" // a space within a mark; it does not split words
	wordGap     = "\uE002" // between the words that one word expands to
)

var (
	fetchedOutput = Category{Name: "!fetched"} // from the network
	decodedOutput = Category{Name: "!decoded"} // from base64 and similar
	secretOutput  = Category{Name: "!secret"}  // a key
	tokenOutput   = Category{Name: "!token"}   // a secret that may be passed on, but not shown
	archiveOutput = Category{Name: "!archive"} // the whole project or database
	shellOutput   = Category{Name: "!shell"}   // what an interactive shell prints
	listOutput    = Category{Name: "!every"}   // every container, every process
	noOutput      = Category{Name: "!quiet"}   // nothing of its input
	rootAllowed   = Category{Name: "?root"}    // not an output: commands that may need root
)

var (
	markRemover = strings.NewReplacer(markStart, "", markEnd, "", wordGap, "", "\x00", "")
	gapReplacer = strings.NewReplacer(" ", wordGap, "\t", wordGap, "\n", wordGap)
	markPattern = pattern.Of("\uE000[^\uE001]*\uE001")
	// Variables whose names say that they are secrets.
	secretVariable = pattern.Of("\uE000(?:[A-Z0-9_]*_)?(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|SECRET_KEY)(?:_[A-Z0-9_]*)?\uE001")
	unsafeInMark   = pattern.Of(`[^\w./~:@-]+`)           // characters that would split a mark into words
	escape         = pattern.Of(`(?s)\\(.)`)              // a backslash outside quotes
	quotedEscape   = pattern.Of("(?s)\\\\([$\"`\\\\\n])") // and within double quotes
)

func mark(kind Category, what string) string {
	return markStart + kind.Name + markSpace + unsafeInMark.ReplaceAllString(what, markSpace) + markEnd
}

func marksIn(text string) string {
	return strings.Join(slices.Compact(markPattern.FindAllString(text, 20)), "")
}

type scope struct {
	dir         string            // "" if unknown
	vars        map[string]string // elements of an array are separated by wordGap
	inContainer bool              // in a container: only other machines can be damaged
}

func (j *judge) scope() *scope {
	return &scope{dir: j.project.Dir, vars: map[string]string{
		"PWD": j.project.Dir, "HOME": j.project.Home, "TMPDIR": "/tmp", "IFS": " ", "CLAUDE_PROJECT_DIR": j.project.Root, "GITHUB_WORKSPACE": j.project.Root,
	}}
}

func (s *scope) child() *scope {
	c := *s
	c.vars = maps.Clone(s.vars)
	return &c
}

func (s *scope) set(name, value string) {
	if len(value) > maxValue {
		value = markStart + name + markEnd
	}
	s.vars[name] = value
}

func (j *judge) splitWords(sc *scope, list ...*syntax.Word) []string {
	var fields []string
	for _, word := range list {
		if word != nil {
			text := j.expand(sc, word.Parts, escape, true)
			fields = append(fields, strings.FieldsFunc(text, func(r rune) bool { return r == '\uE002' })...)
		}
	}
	return fields[:min(len(fields), maxWords)]
}

// unsplitWord returns a word of an assignment or a redirection.
func (j *judge) unsplitWord(sc *scope, word *syntax.Word, escapes *pattern.Pattern) string {
	if word == nil {
		return ""
	}
	return strings.ReplaceAll(j.expand(sc, word.Parts, escapes, false), wordGap, " ")
}

// expand marks with wordGap where the shell splits a value.
func (j *judge) expand(sc *scope, parts []syntax.WordPart, escapes *pattern.Pattern, splits bool) string {
	var text strings.Builder
	for _, part := range parts {
		piece, computed := unknownText, false
		switch part := part.(type) {
		case *syntax.Lit:
			piece = escapes.ReplaceAllString(part.Value, "$1")
		case *syntax.SglQuoted:
			piece = part.Value
		case *syntax.DblQuoted:
			piece = j.expand(sc, part.Parts, quotedEscape, false)
		case *syntax.ParamExp:
			piece, computed = j.parameter(sc, part), true
		case *syntax.CmdSubst:
			piece, computed = cmp.Or(j.statements(part.Stmts, sc.child(), ""), unknownText), true
		case *syntax.ProcSubst:
			piece = fmt.Sprintf("/dev/fd/%d", 63+len(j.files))
			j.files[piece] = j.statements(part.Stmts, sc.child(), "")
		default:
			j.statementsIn(part, call{scope: sc})
		}
		if computed && splits {
			piece = gapReplacer.Replace(piece)
		}
		if text.Len()+len(piece) <= maxText {
			text.WriteString(piece)
		}
	}
	return text.String()
}

func (j *judge) parameter(sc *scope, p *syntax.ParamExp) string {
	value, known := sc.vars[p.Param.Value]
	switch {
	case p.Length || p.Excl || p.Slice != nil || p.Repl != nil:
		return unknownText + marksIn(value)
	case p.Exp != nil && p.Exp.Word != nil:
		other := j.unsplitWord(sc, p.Exp.Word, escape)
		if strings.ContainsAny(p.Exp.Op.String(), "-=") && !known && other != "" {
			return other
		}
	}
	if known {
		return value
	}
	return markStart + p.Param.Value + markEnd
}

func displayText(s string, most int) string {
	s = strings.NewReplacer(unknownText, "…", markStart+"!", "", markStart, "$", markEnd, "", markSpace, " ").Replace(s)
	cut := []rune(strings.Join(strings.Fields(s), " "))
	if len(cut) > most {
		cut = append(cut[:most-1], '…')
	}
	return string(cut)
}
