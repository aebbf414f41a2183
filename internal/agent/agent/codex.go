package agent

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const codexNoSandbox = "--dangerously-bypass-approvals-and-sandbox"

func codex(_ kind, words []string, o Options) (Adapter, error) {
	provider, err := codexProvider(o.Keys)
	if err != nil {
		return Adapter{}, err
	}
	command, extra, notes := codexRules.split(trimSubcommand(words, "e", "exec"), o.Args)
	flags := slices.Concat(command[1:], extra)
	sandbox := []string{codexNoSandbox}
	if o.ReadOnly && !o.Keys.Confined { // inside ralph's sandbox Codex cannot start its own
		sandbox = []string{
			"--sandbox", "read-only",
			"--skip-git-repo-check", "-c", `approval_policy="never"`, // which codexNoSandbox implies
		}
	}
	exec := []string{
		"exec", "--json",
		"-c", "project_doc_max_bytes=0", // AGENTS.md is in the prompt
		"-c", `service_tier="default"`, // the price list has no other
	}
	start := slices.Concat(command, exec, sandbox, provider)
	return Adapter{
		StatusCommand: ask(command, "doctor", "--json"),
		ReadStatus:    codexReadStatus,
		Version:       ask(command, "--version"),
		Notes:         notes,
		Argv: func(order Order) []string {
			return slices.Concat(start, modelFlags("-m", flags, order), extra, []string{"-"}) // stdin has the prompt
		},
		Env: func(Order) []string { return o.Keys.codexEnv() },
		Decoder: func(order Order) Decoder {
			return decoderOf(&codexDecoder{price: o.Prices, model: modelOf(flags, order), open: map[string]bool{}})
		},
		ReportsUsage: true,
	}, nil
}

// codexReadStatus reads the answer of codex doctor, which also checks the configured provider.
func codexReadStatus(_ int, printed []byte) string {
	var report struct {
		Checks map[string]struct {
			Status  string `json:"status"`
			Summary string `json:"summary"`
		} `json:"checks"`
	}
	if json.Unmarshal(printed, &report) != nil {
		return ""
	}
	if auth := report.Checks["auth.credentials"]; auth.Status == "fail" {
		return auth.Summary
	}
	return ""
}

// codexRules leave out flags that Codex dropped, and flags that ralph gives itself: Codex refuses a flag that is given
// twice.
var codexRules = flagRules{
	"--json":       {},
	codexNoSandbox: {},
	"--yolo":       {},
	"--full-auto":  {note: "codex no longer has --full-auto: " + codexNoSandbox + " replaces it"},
}

// codexProvider returns flags that point Codex at another model server. They add a provider, because the built-in one
// loses six seconds on WebSockets, which a proxy refuses. Others can read argv: the key stays in the environment.
func codexProvider(keys Keys) ([]string, error) {
	if keys.ModelBaseURL == "" {
		return nil, nil
	}
	base, err := url.Parse(keys.ModelBaseURL)
	if err != nil || base.Host == "" || base.User != nil {
		return nil, fault.Usage("cannot set the model server of the agent codex",
			"give model-base-url (or OPENAI_BASE_URL) as https://host/v1, without a name or password", nil)
	}
	quoted, _ := json.Marshal(withAPIPath(keys.ModelBaseURL, "v1")) // JSON's quotes are valid TOML
	table := fmt.Sprintf(`name="ralph",base_url=%s,wire_api="responses",supports_websockets=false`, quoted)
	if keys.OpenAIAPIKey != "" {
		table += `,env_key="CODEX_API_KEY"` // refused where the variable is missing
	}
	flags := []string{"-c", "model_providers.ralph={" + table + "}", "-c", `model_provider="ralph"`}
	if keys.Bounded { // else most models offer the provider's search in every request, which the model server refuses
		flags = append(flags, "-c", `web_search="disabled"`)
	}
	return flags, nil
}

// codexFailure reads sentences that Codex itself writes, never the agent's words.
func codexFailure(reason, message string) stream.Result {
	return stream.Result{
		Failed: true,
		Reason: reason,
		Text:   message,
		Status: codexHTTPStatus(message),
		Busy:   codexBusy(message),
		Denied: codexDenied(message),
		Until:  codexResetTime(message),
	}
}

// finalStatus matches the two sentences in which Codex gives the final HTTP status.
var finalStatus = pattern.Of(`^(?:unexpected status|exceeded retry limit, last status:) (\d{3}) `)

func codexHTTPStatus(message string) int {
	m := finalStatus.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	status, _ := strconv.Atoi(m[1])
	return status
}

// codexBusy matches sentences without a status: server errors, and a used-up subscription.
func codexBusy(message string) bool {
	return strings.HasPrefix(message, "We’re currently experiencing high demand") || usedUp.MatchString(message)
}

// codexDenied matches sentences without a status that a person has to act on.
func codexDenied(message string) stream.Denial {
	switch {
	case strings.HasPrefix(message, "Quota exceeded."),
		strings.Contains(message, "out of credits"),
		strings.HasPrefix(message, "To use Codex with your ChatGPT plan"):
		return stream.NoCredit
	case strings.HasPrefix(message, "Your access token could not be refreshed"):
		return stream.NoLogin
	}
	return ""
}

// usedUp matches the sentence of a used-up subscription. It may end with "try again at Nov 23rd, 2026 2:35 PM".
var (
	usedUp  = pattern.Of(`^You['’]ve hit your usage limit`)
	againAt = pattern.Of(`(?i) try again at (?:([A-Z][a-z]{2} \d{1,2})[a-z]{2}(, \d{4}) )?(\d{1,2}:\d{2} [AP]M)\.$`)
)

// codexResetTime returns a time in the machine's own zone, with a minute for the seconds that Codex cuts off. For the
// same day Codex gives only hour and minute: then the year is 0, and the driver finds the day.
func codexResetTime(message string) time.Time {
	m := againAt.FindStringSubmatch(message)
	if m == nil || !usedUp.MatchString(message) {
		return time.Time{}
	}
	layout := "3:04 PM"
	text := m[3]
	if m[1] != "" {
		layout = "Jan 2, 2006 3:04 PM"
		text = m[1] + m[2] + " " + m[3]
	}
	until, err := time.ParseInLocation(layout, text, time.Local)
	if err != nil {
		return time.Time{}
	}
	return until.Add(time.Minute)
}
