package egress

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// mediaTokens is the size of the media in a body, and their likely and maximum number of tokens.
type mediaTokens struct{ size, likely, most int64 }

func (j *bodyJudge) isFetched(name string, value any) bool {
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
	// mediaName matches names of fields and types with media. Servers fetch the addresses in some of
	// them. Base64 can begin with slashes, but has no dot.
	mediaName     = pattern.Of(`(?i)image|video|audio|file|document|media`)
	remoteAddress = pattern.Of(`(?i)^[\s\pZ\pC]*(?:https?:|[a-z][a-z0-9+.-]+:[/\\]|[/\\]{2}[^/\\]*[.:\[])`)
	// ignored are the characters that some servers drop from an address.
	ignored = strings.NewReplacer("\t", "", "\r", "", "\n", "")
	// captions are the text fields beside media.
	captions = set("text", "title", "context", "name", "filename", "description", "cache_control")
)

const maxType = 100 // bytes; a longer type counts as media

// hasAddress reports whether a media field contains an address to fetch.
func (j *bodyJudge) hasAddress(of map[string]any, name string, value any) bool {
	_, object := value.(map[string]any)
	caption, kind := captions[name] && text(value) != "", text(of["type"])
	isMedia := len(kind) > maxType || mediaName.MatchString(kind)
	holds := mediaName.MatchString(name) || isMedia && !caption || name == "source" && object
	if !holds || j.within {
		return false
	}
	j.within = true // until field has walked through it
	return containsAddress(value)
}

func containsAddress(value any) bool {
	switch value := value.(type) {
	case string:
		return remoteAddress.MatchString(ignored.Replace(value))
	case []any:
		return slices.ContainsFunc(value, containsAddress)
	case map[string]any:
		for name, inner := range value {
			words := captions[name] || name == "data" && text(value["type"]) == "text" // Anthropic's documents of plain text
			if (!words || text(inner) == "") && containsAddress(inner) {
				return true
			}
		}
	}
	return false
}

// add counts the media in a field, and reports whether they can be sound or video, which
// makers bill at another price. Data that is not base64 counts as text too.
func (m *mediaTokens) add(name string, value any) (sound bool) {
	object, _ := value.(map[string]any)
	data := cmp.Or(text(object["data"]), text(object["url"]), text(value))
	kinds := slices.DeleteFunc([]string{text(object["media_type"]), text(object["mimeType"]), text(object["mime_type"]), text(object["format"]), dataType(data)},
		func(kind string) bool { return kind == "" })
	all := func(family *pattern.Pattern) bool {
		return !slices.ContainsFunc(kinds, func(kind string) bool { return !family.MatchString(kind) })
	}
	sound = name == "input_audio" || slices.ContainsFunc(kinds, soundType.MatchString)
	if name == "source" && object["data"] == nil || len(kinds) > 0 && all(textType) && dataType(data) == "" {
		return sound
	}
	size := int64(len(data))
	if len(kinds) > 0 && all(imageType) {
		m.likely, m.most = m.likely+likelyImage, m.most+mostImage
	} else {
		m.likely, m.most = m.likely+size/bytesPerMediaToken, m.most+mostMedia
	}
	if !strings.ContainsRune(data, utf8.RuneError) {
		m.size += size
	}
	return sound
}

// largestTool returns the size of the largest tool.
func largestTool(value any) (size int64) {
	tools, _ := value.([]any)
	for _, tool := range tools {
		data, _ := json.Marshal(tool) //nolint:errchkjson // it was read from JSON
		size = max(size, int64(len(data)))
	}
	return size
}

// otherModality returns the field that asks for an answer in images or sound.
func otherModality(tree map[string]any) string {
	for _, in := range []string{"", "generationConfig", "generation_config"} {
		fields := tree
		if in != "" {
			fields, _ = tree[in].(map[string]any)
		}
		for _, name := range []string{"modalities", "responseModalities", "response_modalities"} {
			wanted, is := fields[name].([]any)
			if !is && fields[name] != nil || slices.ContainsFunc(wanted, func(v any) bool { return !strings.EqualFold(text(v), "text") }) {
				return name
			}
		}
	}
	return ""
}

// dataType returns the media type of a data URL.
func dataType(address string) string {
	head, _, _ := strings.Cut(address[:min(len(address), maxType)], ",")
	kind, _, _ := strings.Cut(head, ";")
	if scheme, kind, is := strings.Cut(strings.TrimSpace(kind), ":"); is && strings.EqualFold(scheme, "data") {
		return kind
	}
	return ""
}

var (
	soundType = pattern.Of(`(?i)^\s*(audio|video)/`)
	imageType = pattern.Of(`(?i)^\s*image/`)
	textType  = pattern.Of(`(?i)^\s*text/`)
)
