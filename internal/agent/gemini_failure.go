package agent

import (
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/stream"
)

func (l geminiLine) result(price pricing) stream.Result {
	result := stream.Result{Reason: l.Status, Failed: l.Status != "success", Usage: l.Stats.plain(), Cost: l.cost(price)}
	if result.Failed {
		result.Text = l.Error.Message
		result.Status = geminiStatus(l.Error.Message)
		result.After = geminiAfter(l.Error.Message)
	}
	return result
}

// An error of the API comes in a sentence of the CLI's own, with the server's
// answer in it or with that answer's name for its status.
var (
	geminiSaid  = pattern.Of(`(?s)^\[API Error: .*?(?:"code":\s*(\d{3})\b|\(Status: ([A-Z_]+)\)\])`)
	geminiDelay = pattern.Of(`"retryDelay":\s*"(\d{1,7}(?:\.\d{1,9})?s)"`)
)

// geminiStatuses are Google's names for those that tell what is to be done.
var geminiStatuses = map[string]int{
	"UNAUTHENTICATED":    statusNoKey,
	"PERMISSION_DENIED":  statusKeyRefused,
	"RESOURCE_EXHAUSTED": 429,
	"INTERNAL":           500,
	"UNAVAILABLE":        503,
	"DEADLINE_EXCEEDED":  504,
}

// geminiStatus is the HTTP status of an error. A key that is none is a bad
// request to Google.
func geminiStatus(message string) int {
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

func geminiAfter(message string) time.Duration {
	m := geminiDelay.FindStringSubmatch(message)
	if m == nil || !geminiSaid.MatchString(message) {
		return 0
	}
	after, _ := time.ParseDuration(m[1])
	return after
}
