package egress

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// mediaTokens is the part of a body that is no text: its length and its tokens.
type mediaTokens struct{ size, likely, most int64 }

func (j *bodyJudge) fetched(name string, value any) bool {
	bare, known := j.grammar.fetching[name]
	object, is := value.(map[string]any)
	if is {
		value = object["url"]
	}
	if !known || !is && !bare {
		return false
	}
	s := strings.ToLower(strings.TrimSpace(text(value)))
	return s != "" && !strings.HasPrefix(s, "data:")
}

var (
	// mediaName matches names of fields and types that hold no text. Servers fetch what some of them
	// name. In base64, which may begin with slashes, there is no dot.
	mediaName     = pattern.Of(`(?i)image|video|audio|file|document|media`)
	remoteAddress = pattern.Of(`(?i)^[\s\pZ\pC]*(?:https?:|[a-z][a-z0-9+.-]+:[/\\]|[/\\]{2}[^/\\]*[.:\[])`)
	// ignored are the characters that some servers drop from an address.
	ignored = strings.NewReplacer("\t", "", "\r", "", "\n", "")
	// captions are the fields beside media that are read as they stand.
	captions = set("text", "title", "context", "name", "filename", "description", "cache_control")
)

const mostType = 100 // bytes of a type that is known not to be of media

// leads reports whether a field for media holds an address anywhere.
func (j *bodyJudge) leads(of map[string]any, name string, value any) bool {
	_, object := value.(map[string]any)
	caption, kind := captions[name] && text(value) != "", text(of["type"])
	isMedia := len(kind) > mostType || mediaName.MatchString(kind) // it is matched for each field beside it
	holds := mediaName.MatchString(name) || isMedia && !caption || name == "source" && object
	if !holds || j.within {
		return false
	}
	j.within = true // until field has walked through it
	return addressed(value)
}

func addressed(value any) bool {
	switch value := value.(type) {
	case string:
		return remoteAddress.MatchString(ignored.Replace(value))
	case []any:
		return slices.ContainsFunc(value, addressed)
	case map[string]any:
		for name, inner := range value {
			words := captions[name] || name == "data" && text(value["type"]) == "text" // Anthropic's documents of plain text
			if (!words || text(inner) == "") && addressed(inner) {
				return true
			}
		}
	}
	return false
}

// add counts the media in a field, and tells whether they can be Gemini's sound or film, which
// has a price of its own. What cannot be base64 counts as text, too.
func (m *mediaTokens) add(name string, value any) (sound bool) {
	object, _ := value.(map[string]any)
	kind := cmp.Or(text(object["media_type"]), text(object["mimeType"]), text(object["mime_type"]))
	data := cmp.Or(text(object["data"]), text(object["url"]), text(value))
	if name == "source" && object["data"] == nil || strings.HasPrefix(kind, "text/") {
		return false
	}
	size := int64(len(data))
	if name == "image_url" || strings.HasPrefix(kind, "image/") {
		m.likely, m.most = m.likely+likelyImage, m.most+mostImage
	} else {
		m.likely, m.most = m.likely+size/bytesPerMediaToken, m.most+mostMedia
	}
	if !strings.ContainsRune(data, utf8.RuneError) {
		m.size += size
	}
	return soundType.MatchString(kind)
}

var soundType = pattern.Of(`(?i)^\s*(audio|video)/`)
