package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/stream"
)

func gemini(words []string, o Options) (Adapter, error) {
	command, extra, notes := geminiRules.split(words, o.Args)
	flags := slices.Concat(command[1:], extra)
	home, more := geminiHome(o)
	return Adapter{
		Install:       "install Gemini CLI",
		Package:       "@google/gemini-cli",
		Version:       ask(command, "--version"),
		Tested:        "0.61.0",
		Notes:         append(notes, more...),
		Login:         "start `gemini` once and log in, or set GEMINI_API_KEY to a valid key",
		MissingLogin:  geminiMissingLogin,
		StatusCommand: slices.Concat(command, []string{"--skip-trust", "-o", "json"}),
		ReadStatus: func(exit int, _ []byte) string { // of an empty prompt, which asks no model
			return geminiMissingLogin(exit, "it has no key and is not logged in")
		},
		Vars: []string{
			"GEMINI_CLI_HOME", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI",
		},
		Home:  home,
		State: geminiKeeps,
		Hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"},
		// The folder is trusted by a flag, and not by its variable, which would trust the
		// repository's settings too: their hooks and servers would run unasked.
		Argv: func(order Order) []string {
			return slices.Concat(command, []string{"--yolo", "--skip-trust", "-o", "stream-json"}, modelFlags("-m", flags, order), extra)
		},
		Env: func(order Order) []string {
			return environ.Merge(o.Keys.geminiEnv(), environ.Pairs("GEMINI_CLI_HOME", order.Home))
		},
		Decoder:     func(Order) Decoder { return decoderOf(&geminiDecoder{price: o.Prices}) },
		ParseStderr: geminiParseStderr,
		Reporting:   ReportsAtEnd,
	}, nil
}

const geminiNoLogin = 41

func geminiMissingLogin(exit int, complaint string) string {
	if exit != geminiNoLogin {
		return ""
	}
	return complaint
}

var geminiRules = flagRules{
	"--yolo": {}, "-y": {}, "--skip-trust": {},
	"--approval-mode": {only: "yolo"},
	"--output-format": {only: "stream-json"}, "-o": {only: "stream-json"},
}

// geminiHome returns the home in which a key is taken to another model server, or MCP
// servers are named: for both the CLI wants settings, and no variable stands in for
// them. Settings of the whole system do, but those must belong to root.
func geminiHome(o Options) (home map[string]string, notes []string) {
	if o.Keys.GeminiAPIKey == "" || len(o.Servers) == 0 && (o.Keys.ModelBaseURL == "" || o.Keys.KeySelected) {
		return nil, nil
	}
	settings := map[string]any{
		"general":  map[string]any{"enableAutoUpdate": false},
		"privacy":  map[string]any{"usageStatisticsEnabled": false},
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
	}
	maps.Copy(settings, o.Servers.Settings("gemini"))
	text, _ := json.MarshalIndent(settings, "", "  ") // strings, and maps and lists of them, have no error
	home = map[string]string{".gemini/settings.json": string(text) + "\n"}
	if !o.NeedKey {
		notes = []string{"with another model server gemini runs in its own home, without your ~/.gemini; " +
			`"security": {"auth": {"selectedType": "gemini-api-key"}} in its settings.json keeps yours`}
	}
	return home, notes
}

var geminiRetries = pattern.Of(`^Attempt (\d+) failed(?:: |(?: with status (\d{3})| with (429|5)[\dx]* error)?\b.*Retrying with backoff)`)

func geminiParseStderr(line string) (stream.Item, bool) {
	m := geminiRetries.FindStringSubmatch(line)
	if m == nil {
		return nil, false
	}
	attempt, _ := strconv.Atoi(m[1])
	status, _ := strconv.Atoi(m[2])
	if m[3] == "429" {
		status = 429
	}
	return stream.Retry{Reason: "no answer from the model", Status: status, Attempt: attempt}, true
}

func (l geminiLine) result(price pricing) stream.Result {
	used := l.spent(price)
	result := stream.Result{Reason: l.Status, Failed: l.Status != "success", Usage: l.Stats.plain(), Cost: used.Cost, Boundless: used.Boundless}
	if result.Failed {
		result.Text = l.Error.Message
		result.Status = geminiHTTPStatus(l.Error.Message)
		result.After = geminiRetryDelay(l.Error.Message)
	}
	return result
}

// An error of the API comes in a sentence of the CLI's own, with the server's
// answer in it or with that answer's name for its status.
var (
	geminiSaid  = pattern.Of(`(?s)^\[API Error: .*?(?:"code":\s*(\d{3})\b|\(Status: ([A-Z_]+)\)\])`)
	geminiDelay = pattern.Of(`"retryDelay":\s*"(\d{1,7}(?:\.\d{1,9})?s)"`)
)

const (
	statusNoKey      = 401
	statusKeyRefused = 403
)

var geminiStatuses = map[string]int{
	"UNAUTHENTICATED":    statusNoKey,
	"PERMISSION_DENIED":  statusKeyRefused,
	"RESOURCE_EXHAUSTED": 429,
	"INTERNAL":           500,
	"UNAVAILABLE":        503,
	"DEADLINE_EXCEEDED":  504,
}

// geminiHTTPStatus returns the HTTP status of an error. To Google, an invalid key is a bad request.
func geminiHTTPStatus(message string) int {
	m := geminiSaid.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	if strings.Contains(message, `"API_KEY_INVALID"`) || strings.Contains(message, "API key not valid") {
		return statusNoKey
	}
	if status, err := strconv.Atoi(m[1]); err == nil {
		return status
	}
	return geminiStatuses[m[2]]
}

func geminiRetryDelay(message string) time.Duration {
	m := geminiDelay.FindStringSubmatch(message)
	if m == nil || !geminiSaid.MatchString(message) {
		return 0
	}
	after, _ := time.ParseDuration(m[1])
	return after
}

// geminiUsage is the usage of a model, or of all of them: the sum stands beside
// its parts. Its cached tokens are among the input's; its thoughts, which are
// billed as output, are among the total alone.
type geminiUsage struct {
	Total  int64 `json:"total_tokens"`
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Cached int64 `json:"cached"`
}

func (u geminiUsage) plain() stream.Usage {
	return stream.Usage{
		Input:     max(u.Input-u.Cached, 0),
		Output:    max(u.Output, u.Total-u.Input),
		CacheRead: u.Cached,
	}
}

// spent sums over the models that answered.
func (l geminiLine) spent(price pricing) stream.Spent {
	used := map[string]stream.Usage{}
	for name, of := range l.Stats.Models {
		used[name] = of.plain()
	}
	return price.sum(used)
}

// geminiKeeps: projects.json maps projects to folders of tmp. history has git repositories with
// programs.
var geminiKeeps = State{
	Folders: map[string][]string{".gemini": {"oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "projects.json", "tmp/*/.project_root", "tmp/*/chats", "tmp/*/checkpoints", "tmp/*/logs.json"}},
	Makes:   []string{".gemini/history", ".gemini/installation_id", ".gemini/state.json", ".gemini/tmp"},
}
