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

// What cannot be known stands between these two: a variable by its name, the
// output of a command by its kind. So $DIR/x becomes <DIR>/x, and where a text
// came from goes along with it through variables, pipes and files.
const (
	markStart   = "\uE000"
	markEnd     = "\uE001"
	unknownText = markStart + markEnd
	markSpace   = "\u2800" // within them; it does not split words
	wordGap     = "\uE002" // between words that come of one
)

// The kinds of output, which the table of outputs tells of.
const (
	fetchedOutput Category = "!fetched" // from the network
	decodedOutput Category = "!decoded" // from base64 and its like
	secretOutput  Category = "!secret"  // a key
	tokenOutput   Category = "!token"   // a secret that is made to be handed on, not to be seen
	archiveOutput Category = "!archive" // the project or a database as a whole
	shellOutput   Category = "!shell"   // what an interactive shell prints
	listOutput    Category = "!every"   // every container, every process
	noOutput      Category = "!quiet"   // nothing of what was read
	rootAllowed   Category = "?root"    // no output: what root may be needed for
)

var (
	markRemover = strings.NewReplacer(markStart, "", markEnd, "", wordGap, "", "\x00", "")
	gapReplacer = strings.NewReplacer(" ", wordGap, "\t", wordGap, "\n", wordGap)
	markPattern = pattern.Of("\uE000[^\uE001]*\uE001")
	// Variables whose names say that they are secrets.
	secretVariable = pattern.Of("\uE000(?:[A-Z0-9_]*_)?(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|SECRET_KEY)(?:_[A-Z0-9_]*)?\uE001")
	unsafeInMark   = pattern.Of(`[^\w./~:@-]+`)           // what a mark must not have to stay one word
	escape         = pattern.Of(`(?s)\\(.)`)              // a backslash outside of quotes
	quotedEscape   = pattern.Of("(?s)\\\\([$\"`\\\\\n])") // and within double quotes
)

// mark is output of which only the kind is known.
func mark(kind Category, what string) string {
	return markStart + string(kind) + markSpace + unsafeInMark.ReplaceAllString(what, markSpace) + markEnd
}

// marksIn are what is known of where a text came from, without the text.
func marksIn(text string) string {
	return strings.Join(slices.Compact(markPattern.FindAllString(text, 20)), "")
}

type scope struct {
	dir         string            // "" when it is unknown
	vars        map[string]string // the elements of an array with gaps between them
	inContainer bool              // in a container: only databases and the cloud come to harm
	isRemote    bool              // on another machine, where the project is not
}

// scope is that of the line itself.
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

// splitWords are words as the command would get them, but for empty ones.
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

// unsplitWord is a word that is not split: an assignment, a redirection.
func (j *judge) unsplitWord(sc *scope, word *syntax.Word, escapes *pattern.Pattern) string {
	if word == nil {
		return ""
	}
	return strings.ReplaceAll(j.expand(sc, word.Parts, escapes, false), wordGap, " ")
}

// expand is the text of a word, with gaps where what stands for variables and
// commands is split.
func (j *judge) expand(sc *scope, parts []syntax.WordPart, escapes *pattern.Pattern, splits bool) string {
	var text strings.Builder
	for _, part := range parts {
		piece, computed := unknownText, false
		switch part := part.(type) {
		case *syntax.Lit:
			piece = escapes.ReplaceAllString(part.Value, "$1")
		case *syntax.SglQuoted:
			if piece = part.Value; part.Dollar && escapedBytes.MatchString(piece) {
				piece = mark(decodedOutput, piece)
			}
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
		if p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull {
			return other
		}
		if strings.ContainsAny(p.Exp.Op.String(), "-=") && !known && other != "" {
			return other
		}
	}
	if known {
		return value
	}
	return markStart + p.Param.Value + markEnd
}

// displayText is a text as the agent knows it: what is unknown by its variable.
func displayText(s string, most int) string {
	s = strings.NewReplacer(unknownText, "…", markStart+"!", "", markStart, "$", markEnd, "", markSpace, " ").Replace(s)
	cut := []rune(strings.Join(strings.Fields(s), " "))
	if len(cut) > most {
		cut = append(cut[:most-1], '…')
	}
	return string(cut)
}
