package egress

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
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
	s := strings.TrimSpace(text(value))
	return s != "" && !strings.EqualFold(s[:min(len(s), len(dataScheme))], dataScheme)
}

const dataScheme = "data:"

var (
	// mediaName matches names of fields and types with media. Servers fetch the addresses in some of
	// them. Base64 can begin with slashes, but has no dot.
	mediaName     = pattern.Of(`(?i)image|video|audio|file|document|media`)
	remoteAddress = pattern.Of(`(?i)^(?:https?:|[a-z][a-z0-9+.-]+:[/\\]|[/\\]{2}[^/\\]*[.:\[])`)
	// captions are the text fields beside media.
	captions = set("text", "title", "context", "name", "filename", "description", "cache_control")
)

const maxType = 100 // bytes; a longer type or name counts as that of media

func isMedia(name string) bool { return len(name) > maxType || mediaName.MatchString(name) }

// hasAddress reports whether a media field contains an address to fetch.
func (j *bodyJudge) hasAddress(of map[string]any, name string, value any) bool {
	_, object := value.(map[string]any)
	caption := captions[name] && text(value) != ""
	holds := isMedia(name) || isMedia(text(of["type"])) && !caption || name == "source" && object
	if !holds || j.within {
		return false
	}
	j.within = true // until field has walked through it
	return containsAddress(value)
}

func containsAddress(value any) bool {
	switch value := value.(type) {
	case string:
		return remoteAddress.MatchString(addressStart(value))
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

// addressStart returns the first bytes of an address, without the characters that some servers drop.
func addressStart(value string) string {
	const most = 4096 // a longer host counts as an address, as base64 has more slashes
	value = strings.TrimLeftFunc(value, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Z, unicode.C) })
	start := make([]byte, 0, min(len(value), most)+1)
	for i := 0; i < len(value) && len(start) < most; i++ {
		if c := value[i]; c != '\t' && c != '\r' && c != '\n' {
			start = append(start, c)
		}
	}
	if len(start) == most {
		start = append(start, '.')
	}
	return string(start)
}

// holdsMedia reports whether a field holds media. Tools of the maker leave pictures in fields that otherwise hold others.
func (j *bodyJudge) holdsMedia(of map[string]any, name string) bool {
	return j.grammar.media[name] || name == "result" && text(of["type"]) == drawing || name == "url" && text(of["type"]) == "image" && !j.counted
}

// add counts the media in a field, and reports whether they can be sound or video, which
// makers bill at another price. Data that is not base64 counts as text too.
func (m *mediaTokens) add(name string, value any, mostImage int64) (sound bool) {
	object, _ := value.(map[string]any)
	data := cmp.Or(text(object["data"]), text(object["url"]), text(value))
	var families []string
	for _, kind := range []string{text(object["media_type"]), text(object["mimeType"]), text(object["mime_type"]), text(object["format"]), dataType(data)} {
		if kind != "" {
			families = append(families, family(kind))
		}
	}
	slices.Sort(families)
	families = slices.Compact(families)
	sound = name == "input_audio" || slices.Contains(families, "audio") || slices.Contains(families, "video")
	if name == "source" && object["data"] == nil || slices.Equal(families, []string{"text"}) && dataType(data) == "" {
		return sound
	}
	if slices.Equal(families, []string{"image"}) && name != "file_data" { // a file is what it holds
		m.likely, m.most = m.likely+likelyImage, m.most+mostImage
	} else {
		m.likely, m.most = m.likely+int64(len(data)/bytesPerMediaToken), m.most+mostMedia
	}
	if !strings.ContainsRune(data, utf8.RuneError) {
		m.size += int64(len(data))
	}
	return sound
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
	address = strings.TrimSpace(address)
	head, _, _ := strings.Cut(address[:min(len(address), maxType)], ",")
	kind, _, _ := strings.Cut(head, ";")
	if scheme, kind, is := strings.Cut(kind, ":"); is && strings.EqualFold(scheme, "data") {
		return kind
	}
	return ""
}

// family returns the first part of a media type: image, for image/png.
func family(kind string) string {
	kind = strings.TrimSpace(kind)
	first, _, is := strings.Cut(kind[:min(len(kind), maxType)], "/")
	if !is {
		return "unknown"
	}
	return strings.ToLower(first)
}
