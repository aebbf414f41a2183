package agent

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/stream"
)

// copilot is GitHub Copilot CLI 1.0. A GitHub token, its login, would be more than an agent may have.
func copilot(words []string, o Options) (Adapter, error) {
	if o.NeedKey && o.Keys.ModelBaseURL == "" {
		return Adapter{}, fault.Usage("no model server for the agent copilot, which gets no GitHub token",
			"set the inputs model-base-url, provider-api-key and model", nil)
	}
	command, extra, notes := copilotRules.split(words, o.Args)
	return Adapter{
		Install:      "install GitHub Copilot CLI",
		Package:      "@github/copilot",
		Version:      ask(command, "--version"),
		Tested:       "1.0.102",
		Notes:        notes,
		Login:        "log in with `copilot login`, or set COPILOT_PROVIDER_BASE_URL and COPILOT_PROVIDER_API_KEY",
		MissingLogin: missingLoginIf("No authentication information found"),
		Vars: []string{
			"COPILOT_HOME", "COPILOT_GH_HOST", "GH_HOST", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_MODEL_ID",
			"COPILOT_PROVIDER_WIRE_MODEL", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
		},
		State:   copilotKeeps,
		Hosts:   []string{"api.githubcopilot.com", "api.individual.githubcopilot.com", "api.github.com"},
		Argv:    func(Order) []string { return slices.Concat(command, copilotStart, extra) },
		Env:     func(order Order) []string { return copilotEnv(o.Keys, order.Model) },
		Decoder: func(Order) Decoder { return decoderOf(&copilotDecoder{}) },
	}, nil
}

var copilotStart = []string{"--allow-all", "--no-ask-user", "--no-auto-update", "--output-format", "json"}

var copilotRules = flagRules{
	"--allow-all": {}, "--yolo": {}, "--allow-all-tools": {}, "--no-ask-user": {}, "--no-auto-update": {},
	"--output-format": {only: "json"},
}

// copilotEnv sets the model by a variable, which the user's flags override.
func copilotEnv(keys Keys, model string) []string {
	env := environ.Pairs("COPILOT_MODEL", model)
	if keys.ModelBaseURL == "" {
		return env
	}
	base := keys.ModelBaseURL
	if keys.CopilotProviderType == "" || keys.CopilotProviderType == "openai" {
		base = withAPIPath(base, "v1")
	}
	return append(env, environ.Pairs(
		"COPILOT_OFFLINE", "true",
		"COPILOT_PROVIDER_BASE_URL", base,
		"COPILOT_PROVIDER_TYPE", keys.CopilotProviderType,
		"COPILOT_PROVIDER_API_KEY", keys.CopilotProviderAPIKey,
	)...)
}

type copilotLine struct {
	Type     string      `json:"type"`
	Data     copilotData `json:"data"`
	ExitCode *int        `json:"exitCode"` // of the result
}

type copilotData struct {
	Content   string `json:"content"`
	Parent    string `json:"parentToolCallId"` // set in the messages of a sub-agent
	Output    int64  `json:"outputTokens"`
	Model     string `json:"model"`
	Reason    string `json:"reason"`
	ErrorType string `json:"errorType"`
	Message   string `json:"message"`
	Status    int    `json:"statusCode"`
	Attempt   int    `json:"retryAttempt"`

	ToolCallID string         `json:"toolCallId"`
	ToolName   string         `json:"toolName"`
	Arguments  jsontext.Value `json:"arguments"`
	Success    bool           `json:"success"`
	Result     struct {
		Content string `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Shell struct {
		ExitCode int `json:"exitCode"`
	} `json:"shellExecution"`
}

// copilotDecoder knows the tokens of answers and no cost: Copilot's models are paid by request.
type copilotDecoder struct {
	failure copilotData // of the last call to the model
	broken  copilotData // the error that ends the session
	spent   stream.Usage
}

func (d *copilotDecoder) unfinished() []stream.Item { return noResult(d.spent) }

func (d *copilotDecoder) read(l copilotLine) []stream.Item {
	data := l.Data
	switch l.Type {
	case "session.tools_updated":
		return []stream.Item{stream.Progress{Text: "model " + Short(data.Model)}}
	case "assistant.message":
		return d.message(data)
	case "tool.execution_start":
		return []stream.Item{stream.ToolStart{ID: data.ToolCallID, Name: Short(data.ToolName), Input: summary(data.Arguments)}}
	case "tool.execution_complete":
		return []stream.Item{data.toolEnd()}
	case "model.call_failure":
		d.failure = data
	case "assistant.turn_retry":
		return []stream.Item{stream.Retry{Reason: Short(data.Reason), Status: d.failure.Status, Attempt: d.failure.Attempt + 1}}
	case "session.error":
		d.broken = data
	case "result":
		return []stream.Item{d.result(l.ExitCode)}
	}
	return nil
}

func (d *copilotDecoder) message(data copilotData) []stream.Item {
	items := asProgress(data.Content)
	if data.Content != "" && data.Parent == "" {
		items = []stream.Item{stream.Text{Text: data.Content}}
	}
	if data.Output <= 0 {
		return items
	}
	d.spent.Output += data.Output
	return append(items, stream.Spent{Usage: d.spent})
}

func (c copilotData) toolEnd() stream.ToolEnd {
	said := truncate(cmp.Or(c.Result.Content, c.Error.Message), maxOutput)
	return stream.ToolEnd{ID: c.ToolCallID, Output: said, Failed: !c.Success || c.Shell.ExitCode != 0}
}

// result uses the exit code: an error before a good end does not count.
func (d *copilotDecoder) result(exit *int) stream.Result {
	result := stream.Result{Reason: "completed", Usage: d.spent}
	if exit != nil && *exit == 0 {
		return result
	}
	result.Failed, result.Reason = true, cmp.Or(d.broken.ErrorType, "failed")
	result.Text, result.Status = d.broken.Message, d.broken.Status
	result.Busy = d.broken.ErrorType == "rate_limit"
	if d.broken.ErrorType == "authentication" && d.broken.Status != statusKeyRefused {
		result.Denied = stream.NoLogin
	}
	return result
}

// copilotKeeps: the login is in fields of a file that also defines what it starts, each with two
// spellings.
var copilotKeeps = State{
	Folders: map[string][]string{".copilot": {"config.json", "logs", "session-state", "session-store.db*"}},
	Files:   map[string][]string{".copilot/config.json": {"loggedInUsers", "logged_in_users", "lastLoggedInUser", "last_logged_in_user", "copilotTokens", "copilot_tokens", "firstLaunchAt", "first_launch_at"}},
	Makes:   []string{".copilot/installed-plugins", ".copilot/settings.json.lock", ".copilot/pkg", ".copilot/config.json.lock"},
}
